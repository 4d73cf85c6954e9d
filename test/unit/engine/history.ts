import fc from 'fast-check';
import type { Archive } from '../../../extension/archive/archive';
import { ROOT_CHAIN, type Chain, type TurnId } from '../../../extension/archive/ids';
import type { StoredMessage } from '../../../extension/archive/message';
import { bind, capture, echo, MODEL, prepare, talk, text, user } from './conversation';
import { FakeCompactor, lineFor, reply } from './fakeCompactor';

/** Something that happens to an archive. Places and turns are counted from those there are. */
export type Step =
  | { readonly do: 'append'; readonly ordinal: number; readonly message: StoredMessage }
  | { readonly do: 'bind'; readonly at: number; readonly messages: readonly StoredMessage[] }
  | {
      readonly do: 'prepare';
      readonly at: number;
      readonly turn: number;
      readonly window: number;
      readonly fails: boolean;
    }
  | { readonly do: 'settled'; readonly turn: number }
  | { readonly do: 'mode'; readonly on: boolean };

const message: fc.Arbitrary<StoredMessage> = fc
  .tuple(fc.constantFrom(user, talk, echo), fc.nat(9), fc.constantFrom(5, 60, 300, 700))
  .map(([make, id, bytes]) => make(text(`${id}`, bytes)));
export const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('append' as const), ordinal: fc.nat(5), message }),
  fc.record({
    do: fc.constant('bind' as const),
    at: fc.nat(20),
    messages: fc.array(message, { maxLength: 12 }),
  }),
  fc.record({
    do: fc.constant('prepare' as const),
    at: fc.nat(20),
    turn: fc.nat(6),
    window: fc.constantFrom(20_000, 200_000),
    fails: fc.boolean(),
  }),
  fc.record({ do: fc.constant('settled' as const), turn: fc.nat(6) }),
  fc.record({ do: fc.constant('mode' as const), on: fc.boolean() }),
);

/** Lets things happen to an archive, one after the other. */
export class History {
  readonly #chains: Chain[] = [ROOT_CHAIN];

  constructor(private readonly archive: Archive) {}

  async happen(one: Step): Promise<void> {
    const { archive } = this;
    const at = this.#chains[('at' in one ? one.at : 0) % this.#chains.length] as Chain;
    switch (one.do) {
      case 'append':
        return archive.append({ capture: capture(one.ordinal), message: one.message });
      case 'bind':
        this.#chains.push(await bind(archive, one.messages, at, `e${this.#chains.length}-`));
        return;
      case 'prepare': {
        const compactor = new FakeCompactor((request, call) =>
          one.fails && call > 3 ? { ok: false, reason: 'down' } : reply(lineFor(request)),
        );
        // Some are refused, some fail half-way: that is part of the history.
        await prepare(archive, `t${one.turn}`, at, compactor, {
          model: { ...MODEL, window: one.window },
        }).catch(() => undefined);
        return;
      }
      case 'settled':
        return archive
          .settled({ turn: `t${one.turn}` as TurnId, requests: 1, status: 200 })
          .catch(() => undefined);
      case 'mode':
        return archive.setMode(one.on);
    }
  }
}
