import { PROTOCOL_VERSION } from './protocol';

/** The version both sides speak: the older one's. */
export function commonVersion(theirs: number): number {
  return Math.min(theirs, PROTOCOL_VERSION);
}

/** Undefined when a Pi and a host of these versions can talk. Else what to update, and where: always the older side. */
export function versionMismatch(versions: {
  readonly pi: number;
  readonly host: number;
}): string | undefined {
  const { pi, host } = versions;
  if (Math.abs(pi - host) <= 1) return undefined;
  return (
    `Strata in Pi speaks version ${pi} of the link, Strata in VS Code version ${host}. ` +
    (pi < host
      ? 'Run "Strata: Install Pi Extension" in VS Code and start Pi again.'
      : 'Update Strata in VS Code and reload the window.')
  );
}
