import fc from 'fast-check';
import type { SessionTree } from './sessionTree';

/** What may happen to a session. */
export const operations = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('say' as const), text: fc.string({ maxLength: 6 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('note' as const), text: fc.string({ maxLength: 6 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('mark' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('edit' as const),
        target: fc.nat(),
        text: fc.option(fc.string({ maxLength: 6 })),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('go' as const), target: fc.nat() }) },
  ),
  { maxLength: 30 },
);
export type Operation = typeof operations extends fc.Arbitrary<(infer Item)[]> ? Item : never;

export function perform(tree: SessionTree, operation: Operation): void {
  const pick = (n: number) => tree.entries[n % Math.max(1, tree.entries.length)]?.id;
  switch (operation.kind) {
    case 'say':
      if (tree.entries.length % 2 === 0) tree.user(operation.text);
      else tree.assistant(operation.text);
      return;
    case 'note':
      tree.custom(operation.text);
      return;
    case 'mark':
      tree.marker();
      return;
    case 'edit': {
      const target = pick(operation.target);
      if (target !== undefined) tree.edit(target, operation.text);
      return;
    }
    case 'go':
      tree.navigate(pick(operation.target) ?? null);
  }
}
