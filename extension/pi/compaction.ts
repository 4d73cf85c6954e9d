import type { SessionBeforeCompactEvent } from '@earendil-works/pi-coding-agent';
import type { Footer } from './footer';

/**
 * While memory is on, Pi's own compaction is cancelled whatever asked for it: the past is in the view already, and a
 * compaction inside a turn would change what its receipt covers.
 */
export function cancelCompaction(
  reason: SessionBeforeCompactEvent['reason'],
  footer: Footer,
): { cancel: true } {
  switch (reason) {
    case 'manual':
      footer.notify(
        'Nothing to compact: memory keeps the past small by itself. To compact the way Pi does, type /strata off first.',
        'info',
      );
      break;
    case 'overflow':
      footer.notify(
        'This turn is larger than the model takes. Send a new prompt (earlier turns then come as memory), or choose a model with a larger window.',
        'warning',
      );
      break;
    case 'threshold':
      // Pi asks again before each prompt; there is nothing for a person to do.
      break;
  }
  return { cancel: true };
}
