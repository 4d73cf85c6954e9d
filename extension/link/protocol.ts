import type { Chain } from '../archive/ids';
import type {
  AppendRequest,
  BindReply,
  BindRequest,
  FrozenView,
  OpenReply,
  PrepareRequest,
  Progress,
  SessionIdentity,
  SettledRequest,
  ZoomRequest,
} from '../archive/requests';
import type { SummaryReply, SummaryRequest } from '../archive/ports';

/** Versions n-1 to n+1 talk to each other; others refuse with an upgrade hint. */
export const PROTOCOL_VERSION = 1;

/** The first message on a connection, within a second of connecting; nothing else is answered before it. */
export interface Hello {
  readonly token: string;
  readonly version: number;
  readonly session: SessionIdentity;
}
export type HelloReply =
  | {
      readonly ok: true;
      readonly version: number;
      readonly host: { readonly pid: number; readonly name: string };
    }
  | { readonly ok: false; readonly reason: string };

/** What an error means to the other side. The wire carries the code; `message` is a sentence for people. */
export type LinkErrorCode =
  /** The archive cannot be written or is damaged. Memory of this session has failed. */
  | 'archive'
  /** The archive belongs to another process. */
  | 'locked'
  /** The process that was asked can take no locks there, so it may only read. */
  | 'no-locks'
  /** Memory could not be prepared; the next prompt may try again. */
  | 'prepare'
  /** The request itself was wrong. */
  | 'invalid'
  | 'cancelled'
  /** The connection is gone, or nobody answered in time. */
  | 'lost'
  /** Memory is off for this archive. */
  | 'off';

export class LinkError extends Error {
  constructor(
    readonly code: LinkErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'LinkError';
  }
}

/** Answers of the retrieval methods are plain JSON for the model or a person; see archive/retrieval.ts. */
export interface ZoomReply {
  readonly [field: string]: unknown;
}

/**
 * What the owner of an archive does for its Pi session. Rejections are `LinkError`s. A `signal` says that nobody waits
 * for the answer any more: work may end early, but nothing is left half-done, and what is being written is written.
 */
export interface Owner {
  /** `session/open`: finds or makes the session's archive and takes its lock. */
  open(signal?: AbortSignal): Promise<OpenReply>;
  /** `journal/append`: resolves once the message is on stable storage. A capture seen before is acknowledged again. */
  append(request: AppendRequest, signal?: AbortSignal): Promise<void>;
  /** `journal/bind` */
  bind(request: BindRequest, signal?: AbortSignal): Promise<BindReply>;
  /** `turn/prepare`: settles every summary the view needs, then freezes it. */
  prepare(request: PrepareRequest, progress: (p: Progress) => void, signal: AbortSignal): Promise<FrozenView>;
  /** `turn/settled` */
  settled(request: SettledRequest, signal?: AbortSignal): Promise<void>;
  /** `memory/zoom` */
  zoom(request: ZoomRequest, signal?: AbortSignal): Promise<ZoomReply>;
  /** `memory/date`: when record `start` was made. */
  date(request: { readonly start: number; readonly chain?: Chain }, signal?: AbortSignal): Promise<ZoomReply>;
  /** `memory/search`: literal, case-insensitive, a page at a time. */
  search(
    request: { readonly query: string; readonly from: number; readonly chain?: Chain },
    signal?: AbortSignal,
  ): Promise<ZoomReply>;
  /** `memory/status` */
  status(signal?: AbortSignal): Promise<ZoomReply>;
  /** `memory/mode` */
  setMode(on: boolean, signal?: AbortSignal): Promise<void>;
  /** The connection ended: pending work for this Pi stops, what is published stays. */
  release(): Promise<void>;
}

/** What Pi does for its owner. */
export interface PiSide {
  /** `compactor/summarize` */
  summarize(request: SummaryRequest, signal: AbortSignal): Promise<SummaryReply>;
}

/** Method names on the wire, both directions. */
export const METHODS = {
  hello: 'hello',
  open: 'session/open',
  append: 'journal/append',
  bind: 'journal/bind',
  prepare: 'turn/prepare',
  prepareProgress: 'turn/prepare/progress',
  settled: 'turn/settled',
  zoom: 'memory/zoom',
  date: 'memory/date',
  search: 'memory/search',
  status: 'memory/status',
  mode: 'memory/mode',
  summarize: 'compactor/summarize',
} as const;
