import { formatAddress, type Address } from './address';
import { oneLine } from './text';

const OPEN = '<chat>\n';
const CLOSE = '\n</chat>';
/** Lines of a complete block. Short blocks leave few lines unread behind a cache mark (spec/archive.md 4.6). */
const BLOCK_LINES = 4;

/** The bytes of a view without lines. A view takes these, its lines, and one for each line but the first. */
export const EMPTY_VIEW_BYTES = 15;

/**
 * A line of a view: the address, a bar and the text on one line. Because each line starts with an address, no text
 * can be taken for the closing tag and nothing needs escaping (spec/archive.md 4.1).
 */
export function lineOf(a: Address, text: string): string {
  return `${formatAddress(a)}|${oneLine(text)}`;
}

/** The view's text. Without lines it keeps one blank line. */
export function renderView(lines: readonly string[]): string {
  return OPEN + lines.join('\n') + CLOSE;
}

/**
 * The view as the text blocks that are sent; joined they are exactly `renderView`. A complete block holds four lines
 * and never changes while lines are only appended; the last block holds the remaining 0 to 3 lines and the closing
 * tag (spec/archive.md 4.6). The last complete block is therefore the last but one.
 */
export function blocksOf(lines: readonly string[]): string[] {
  const blocks: string[] = [];
  const complete = lines.length - (lines.length % BLOCK_LINES);
  for (let i = 0; i < complete; i += BLOCK_LINES) {
    const text = lines.slice(i, i + BLOCK_LINES).join('\n') + '\n';
    blocks.push(i === 0 ? OPEN + text : text);
  }
  const rest = lines.slice(complete).join('\n');
  if (complete === 0) blocks.push(OPEN + rest + CLOSE);
  // The line break before the closing tag already ends the last complete block.
  else blocks.push(rest === '' && complete === lines.length ? CLOSE.slice(1) : rest + CLOSE);
  return blocks;
}
