import type { CaptureColumns } from './captureTable';
import type { Chain } from './ids';
import type { LineColumns } from './lineTable';
import type { MessageColumns } from './messageTable';
import type { TokenUsage } from './ops';
import type { PartitionMark } from './partitionMark';
import type { SourceColumns } from './sourceTable';
import type { Turn } from './turn';

/** Everything that an `ArchiveState` cannot work out again without the journal. */
export interface SavedState {
  readonly messages: MessageColumns;
  readonly sources: SourceColumns;
  readonly lines: LineColumns;
  readonly captures: CaptureColumns;
  /** By the row of the source they end with. */
  readonly marks: readonly (readonly [row: number, mark: PartitionMark])[];
  readonly turns: readonly Turn[];
  readonly newest: Chain;
  readonly mode: boolean | undefined;
  readonly commits: number;
  readonly usage: TokenUsage;
  readonly firstPrompt: string | undefined;
}
