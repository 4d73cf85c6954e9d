/** One JSON document on stdout. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** Lines on stdout. */
export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map(line => `${line}\n`).join(''));
}

/** A text as it is; only a terminal gets a line break after it. */
export function printExact(text: string): void {
  process.stdout.write(process.stdout.isTTY && !text.endsWith('\n') ? `${text}\n` : text);
}

/** A remark on stderr, beside the answer. */
export function remark(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** `1 record`, `2 records`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
