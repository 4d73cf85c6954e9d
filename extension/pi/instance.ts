/** Survives `/reload` and a second copy of this bundle, unlike a variable of this module. */
const MARK = Symbol.for('strata.pi.instance');

interface Marked {
  [MARK]?: object;
}

/**
 * Claims this Pi process for one instance. Undefined when another copy has it already: that one stays inert.
 * `release` at the end of a session lets the next one's factory claim again.
 */
export function claimInstance(): { release(): void } | undefined {
  const place = globalThis as Marked;
  if (place[MARK]) return undefined;
  const claim = {};
  place[MARK] = claim;
  return {
    release: () => {
      if (place[MARK] === claim) delete place[MARK];
    },
  };
}
