import { address, family, tiling } from './addresses';
import { attempts, leaf_method, parent_method } from './lines';
import { branch_sources } from './branches';
import { budgets, receipts, request_guard } from './limits';
import { cache_policy } from './cache';
import { coarsen, counter, sawtooth, sawtooth_hash } from './merges';
import { normalise } from './messages';
import { page, page_cases, page_default, page_sum } from './pages';
import { script } from './script';
import { prefix_reuse } from './prefixes';
import type { Handler } from './vector';
import { blocks, one_line, render } from './views';

/** The kinds that the product implements. Others are unknown, and unknown is failed. */
export const KINDS: ReadonlyMap<string, Handler> = new Map(
  Object.entries({
    address,
    attempts,
    blocks,
    branch_sources,
    budgets,
    cache_policy,
    coarsen,
    counter,
    family,
    leaf_method,
    normalise,
    one_line,
    page,
    page_cases,
    page_default,
    page_sum,
    parent_method,
    prefix_reuse,
    receipts,
    request_guard,
    render,
    sawtooth,
    sawtooth_hash,
    script,
    tiling,
  }),
);
