import { counted, formatBytes, formatCount } from './figures';

/** What the memory of one served session is doing. */
export type MemoryActivity =
  | { readonly state: 'ready'; readonly records: number; readonly viewBytes: number }
  /** Lines are being written before a request may leave. */
  | { readonly state: 'preparing'; readonly done: number; readonly total: number }
  /** A request was stopped, or the archive can't be written; `reason` is a sentence. */
  | { readonly state: 'stopped'; readonly reason: string }
  | { readonly state: 'off' };

export interface ServedMemory {
  readonly title: string;
  readonly activity: MemoryActivity;
  /** Milliseconds since 1970. */
  readonly lastActivity: number;
}

export interface StatusItem {
  readonly text: string;
  readonly tooltip: string;
  readonly warning: boolean;
}

const URGENCY: Record<MemoryActivity['state'], number> = { stopped: 0, preparing: 1, ready: 2, off: 3 };

/** The session the status bar speaks of: what needs a person first, then what works, then the latest. */
export function mostUrgent(served: readonly ServedMemory[]): ServedMemory | undefined {
  return [...served].sort(
    (a, b) => URGENCY[a.activity.state] - URGENCY[b.activity.state] || b.lastActivity - a.lastActivity,
  )[0];
}

/** What the status bar shows; undefined hides the item, which is right while nothing is served. */
export function statusOf(served: readonly ServedMemory[]): StatusItem | undefined {
  const shown = mostUrgent(served);
  if (!shown) return undefined;
  const { title, activity } = shown;
  switch (activity.state) {
    case 'ready': {
      const records = `Memory of ${title}: ${counted(activity.records, 'record')}`;
      // Before the second prompt there is no view yet, and a size of 0 would look like a loss.
      if (activity.viewBytes === 0)
        return { text: `$(layers) ${formatCount(activity.records)}`, tooltip: records, warning: false };
      return {
        text: `$(layers) ${formatCount(activity.records)} · ${formatBytes(activity.viewBytes)}`,
        tooltip: `${records}, the last view ${formatBytes(activity.viewBytes)}`,
        warning: false,
      };
    }
    case 'preparing':
      return {
        text: `$(sync~spin) memory ${formatCount(activity.done)}/${formatCount(activity.total)}`,
        tooltip: `Memory of ${title}: ${formatCount(activity.done)} of ${counted(activity.total, 'line')} written; Pi's request waits for them`,
        warning: false,
      };
    case 'stopped':
      return {
        text: '$(warning) memory stopped',
        tooltip: `Memory of ${title} stopped: ${activity.reason} Click for what to do.`,
        warning: true,
      };
    case 'off':
      return {
        text: '$(layers) memory off',
        tooltip: `Memory of ${title} is off: messages are recorded, Pi sends its own history`,
        warning: false,
      };
  }
}
