import type { AssistantMessage, BashMessage, Block, StoredMessage } from './message';
import type { MemoryRecord, RecordKind } from './record';

/** Pi 1.6.0's words around the summary of an abandoned branch: a record says what the model was shown. */
const BRANCH_BEFORE =
  'The following is a summary of a branch that this conversation came back from:\n\n<summary>\n';
const BRANCH_AFTER = '</summary>';

/**
 * The records of one message, in order (spec/archive.md 1.1 to 1.3). None for a message without visible content: it
 * is no source then. No text is ever shortened here.
 */
export function recordsOf(message: StoredMessage): MemoryRecord[] {
  const { timestamp } = message;
  const one = (kind: RecordKind, text: string): MemoryRecord[] => [{ kind, text, timestamp }];
  switch (message.role) {
    case 'user':
    case 'custom': {
      // Other extensions' text stays a note: it must never gain the authority of the user's own words.
      const text = joinedText(message.content);
      return text === '' ? [] : one(message.role === 'user' ? 'user' : 'note', text);
    }
    case 'assistant':
      return recordsOfAssistant(message);
    case 'toolResult':
      return one(
        'echo',
        `${message.toolName}${message.isError ? ' [error]' : ''}: ${joinedText(message.content)}`,
      );
    case 'bashExecution':
      return one('echo', bashText(message));
    case 'branchSummary':
      return message.summary === '' ? [] : one('note', BRANCH_BEFORE + message.summary + BRANCH_AFTER);
  }
}

function recordsOfAssistant({ content, stopReason, timestamp }: AssistantMessage): MemoryRecord[] {
  const failed = stopReason === 'error' || stopReason === 'aborted' ? ` [${stopReason}]` : '';
  const records: MemoryRecord[] = [];
  for (const block of content) {
    const tool = block.type === 'toolCall';
    const text = tool ? `${block.name} ${JSON.stringify(block.arguments)}` : blockText(block);
    if (text !== '') records.push({ kind: tool ? 'tool' : 'talk', text: text + failed, timestamp });
  }
  return records;
}

/** What is visible of a message's content, as its record says it. */
export function joinedText(content: readonly Block[]): string {
  return content
    .map(blockText)
    .filter(text => text !== '')
    .join('\n');
}

/** A block's text, or the marker that says something was there: what it held is only in the original. */
function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'other':
      return `[${block.name}]`;
    case 'image':
    case 'toolCall':
      return `[${block.type}]`;
  }
}

/** A shell command of the user, in the form that Pi 1.6.0 sends to the model. */
function bashText({ command, output, exitCode, cancelled, truncated, fullOutputPath }: BashMessage): string {
  const parts = [`Ran \`${command}\`\n` + (output ? `\`\`\`\n${output}\n\`\`\`` : '(no output)')];
  if (cancelled) parts.push('(command cancelled)');
  else if (exitCode !== undefined && exitCode !== 0) parts.push(`Command exited with code ${exitCode}`);
  if (truncated && fullOutputPath) parts.push(`[Output truncated. Full output: ${fullOutputPath}]`);
  return parts.join('\n\n');
}
