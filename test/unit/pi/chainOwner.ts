import { ROOT_CHAIN, type Chain } from '../../../extension/archive/ids';
import { nextChain, sourceKey } from '../../../extension/archive/canonical';
import type { BindReply, BindRequest } from '../../../extension/archive/requests';
import type { StoredMessage } from '../../../extension/archive/message';

/** An owner that keeps chains, and holds what it is told to its word. */
export class ChainOwner {
  readonly chains = new Map<Chain, number>([[ROOT_CHAIN, 0]]);
  readonly captured = new Map<string, StoredMessage>();
  readonly requests: BindRequest[] = [];

  bind(request: BindRequest): Promise<BindReply> {
    this.requests.push(request);
    let records = this.chains.get(request.after);
    if (records === undefined) return Promise.resolve({ ok: false, reason: 'unknown-chain' });
    let chain = request.after;
    for (const source of request.sources) {
      const message = source.message ?? this.captured.get(JSON.stringify(source.capture));
      if (!message) return Promise.resolve({ ok: false, reason: 'unknown-capture', entry: source.entry });
      chain = nextChain(chain, sourceKey(message));
      records++;
      this.chains.set(chain, records);
    }
    return Promise.resolve({ ok: true, chain, records });
  }

  get sent(): number {
    return this.requests.reduce((sum, { sources }) => sum + sources.length, 0);
  }
}
