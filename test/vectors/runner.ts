import { isDeepStrictEqual } from 'node:util';
import { KINDS } from './kinds';
import overrides from './overrides.json';
import type { Vector } from './vector';

export type Verdict =
  | { readonly id: string; readonly verdict: 'passed' }
  /** `why`: what was expected and what came, on one line. */
  | { readonly id: string; readonly verdict: 'failed'; readonly why: string }
  /** On the list of vectors that are answered differently on purpose. */
  | { readonly id: string; readonly verdict: 'overridden'; readonly why: string };

const OVERRIDES: ReadonlyMap<string, string> = new Map(Object.entries(overrides.overrides));

/**
 * Runs every vector of a parsed vector file. Files that name an operation's area instead of a kind are read alike.
 * Throws for a file of another form, and for two vectors of one id: one could hide the other.
 */
export function runVectors(file: unknown): Verdict[] {
  const vectors = vectorsOf(file);
  const ids = new Set(vectors.map(({ id }) => id));
  if (ids.size !== vectors.length) throw new Error('Two vectors of this file have the same id.');
  return vectors.map(runVector);
}

function runVector(vector: Vector): Verdict {
  const { id, kind } = vector;
  const reason = OVERRIDES.get(id);
  if (reason !== undefined) return { id, verdict: 'overridden', why: reason };
  const handler = KINDS.get(kind);
  if (!handler) return { id, verdict: 'failed', why: `unknown kind ${kind}` };
  try {
    const { expected, actual } = handler(vector);
    if (isDeepStrictEqual(actual, expected)) return { id, verdict: 'passed' };
    return { id, verdict: 'failed', why: firstDifference(expected, actual) };
  } catch (error) {
    return { id, verdict: 'failed', why: error instanceof Error ? error.message : String(error) };
  }
}

function vectorsOf(file: unknown): Vector[] {
  const vectors = (file as { vectors?: unknown } | null)?.vectors;
  if (!Array.isArray(vectors)) throw new Error('This is no vector file: it has no list named "vectors".');
  return vectors.map((vector: { id?: unknown; kind?: unknown; area?: unknown }) => {
    const kind = vector.kind ?? vector.area;
    if (typeof vector.id !== 'string' || typeof kind !== 'string') {
      throw new Error('A vector of this file has no id or no kind.');
    }
    return { ...vector, id: vector.id, kind };
  });
}

/** Where two values first differ, and how: a vector can hold thousands of rows. */
function firstDifference(expected: unknown, actual: unknown, path = ''): string {
  if (isRecord(expected) && isRecord(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      if (!isDeepStrictEqual(expected[name], actual[name])) {
        return firstDifference(expected[name], actual[name], `${path}/${name}`);
      }
    }
  }
  return `${path === '' ? '' : `${path}: `}expected ${brief(expected)}, got ${brief(actual)}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 300 ? text : `${text.slice(0, 300)}… (${text.length} characters)`;
}
