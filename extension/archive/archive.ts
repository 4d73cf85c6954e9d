import type { Branch } from './branch';
import type { Chain, TurnId } from './ids';
import type { Clock, Compactor, Journal, Log } from './ports';
import type {
  AppendRequest,
  BindReply,
  BindRequest,
  FrozenView,
  PrepareRequest,
  Progress,
  SettledRequest,
  ZoomRequest,
} from './requests';
import type { DateAnswer, SearchAnswer, SearchRequest, ZoomAnswer } from './retrieval';
import type { ArchiveState } from './state';

export interface ArchiveOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  /** High water of the view in bytes (default 128,000). */
  readonly viewBytes?: number;
  /** Whether memory is on until `setMode` says otherwise (default true). */
  readonly memoryDefault?: boolean;
}
export type ArchiveEvent =
  | { readonly type: 'commit'; readonly n: number }
  | { readonly type: 'preparing'; readonly turn: TurnId; readonly progress: Progress }
  | { readonly type: 'prepared'; readonly turn: TurnId }
  | { readonly type: 'failed'; readonly turn: TurnId; readonly message: string };

/** The one writer of an archive. */
export declare class Archive {
  static open(options: ArchiveOptions): Promise<Archive>;
  readonly state: ArchiveState;
  readonly memory: boolean;
  /** Why nothing can be written: the journal is damaged. */
  readonly readOnly: string | undefined;
  append(request: AppendRequest): Promise<void>;
  bind(request: BindRequest): Promise<BindReply>;
  prepare(
    request: PrepareRequest,
    compactor: Compactor,
    progress: (p: Progress) => void,
    signal: AbortSignal,
  ): Promise<FrozenView>;
  settled(request: SettledRequest): Promise<void>;
  buildInBackground(chain: Chain, compactor: Compactor): void;
  setMode(on: boolean): Promise<void>;
  branch(chain?: Chain): Branch;
  zoom(request: ZoomRequest): Promise<ZoomAnswer>;
  date(request: { readonly start: number; readonly chain?: Chain }): DateAnswer;
  search(request: SearchRequest): Promise<SearchAnswer>;
  status(): Record<string, unknown>;
  /** Stops listening with the function it returns. */
  onChange(listener: (event: ArchiveEvent) => void): () => void;
  /** Ends background work and closes the journal. */
  close(): Promise<void>;
}
