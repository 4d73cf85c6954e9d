import {
  childrenOf,
  formatAddress,
  isAddress,
  parentOf,
  tiles,
  type Address,
} from '../../extension/archive/address';
import { fieldsOf, type Handler } from './vector';

/** Reads `start+count` as it stands; whether it is an address is for the product to say. */
function numbersOf(text: string): Address {
  const [start, count] = text.split('+').map(Number);
  return { start: start as number, count: count as number };
}

/** Throws for a text that is no address: a vector that means one must hold one. */
export function addressOf(text: string): Address {
  const a = numbersOf(text);
  if (!isAddress(a.start, a.count)) throw new Error(`${text} is no address`);
  return a;
}

export const address: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: [number, number][]; expect: boolean[] }>(vector);
  return { expected: expect, actual: input.map(([start, count]) => isAddress(start, count)) };
};

export const tiling: Handler = vector => {
  const { input, expect } = fieldsOf<{
    input: { parts: string[]; total: number }[];
    expect: boolean[];
  }>(vector);
  return {
    expected: expect,
    actual: input.map(({ parts, total }) => tiles(parts.map(numbersOf), total)),
  };
};

export const family: Handler = vector => {
  const { input, expect, path } = fieldsOf<{ input: string[]; expect: object[]; path: string[] }>(vector);
  const climbed = [addressOf(path[0] as string)];
  while (climbed.length < path.length) climbed.push(parentOf(climbed.at(-1) as Address));
  const relatives = input.map(addressOf).map(a => ({
    parent: formatAddress(parentOf(a)),
    children: childrenOf(a)?.map(formatAddress) ?? null,
  }));
  return {
    expected: { relatives: expect, path },
    actual: { relatives, path: climbed.map(formatAddress) },
  };
};
