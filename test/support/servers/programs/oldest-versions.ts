import type { Program } from '../daemon.js';
import { pathOf } from './programs.js';

/** A server exists but lacks a feature that the tests need. The message is one line with both versions. */
export class Unsuitable extends Error {}

interface OldestVersion {
  /** Matches the version number in the output of `--version`. */
  printed: RegExp;
  version: string;
  /** The feature that came with the version, or the reason to reject older ones. */
  reason: string;
}

/** The oldest version of each server that the tests can use. Pebble's packages print none: see `pebble.ts`. */
const OLDEST = {
  MySQL: {
    printed: /Ver (\d+\.\d+\.\d+)(?!\S*MariaDB)/i,
    version: '8.0.30',
    reason: 'innodb_redo_log_capacity',
  },
  MariaDB: {
    printed: /(\d+\.\d+\.\d+)-MariaDB/i,
    version: '10.11.0',
    reason: 'the README promises no older one',
  },
  Redis: {
    printed: /(?:Redis|Valkey) server v=(\d+\.\d+\.\d+)/,
    version: '7.0.0',
    reason: 'CLUSTER ADDSLOTSRANGE and cluster-port',
  },
  Knot: {
    printed: /Knot DNS\)?,?(?: version)? (\d+\.\d+\.\d+)/,
    version: '3.0.0',
    reason: 'older ones are untried',
  },
  HAProxy: { printed: /version (\d+\.\d+\.\d+)/, version: '2.6.0', reason: 'older ones are untried' },
  Unbound: { printed: /^Version (\d+\.\d+\.\d+)/m, version: '1.16.0', reason: 'extended errors' },
  BIND: { printed: /BIND (\d+\.\d+\.\d+)/, version: '9.18.0', reason: 'older ones are untried' },
  NSD: { printed: /NSD version (\d+\.\d+\.\d+)/, version: '4.6.0', reason: 'extended errors' },
  PowerDNS: {
    printed: /^pdnsutil (\d+\.\d+\.\d+)/,
    version: '4.7.0',
    reason: 'older ones are untried',
  },
} satisfies Record<string, OldestVersion>;

export type VersionedServer = keyof typeof OLDEST;

/** `printed` is the program's version line. Throws `Unsuitable` when it is too old, or another product. */
export function requireVersion(server: VersionedServer, program: Program, printed: string): void {
  const oldest = OLDEST[server];
  const found = oldest.printed.exec(printed)?.[1];
  if (found === undefined) throw new Unsuitable(`${pathOf(program)} is not ${server}: ${firstLine(printed)}`);
  if (isOlder(found, oldest.version)) {
    throw new Unsuitable(
      `${pathOf(program)} is ${server} ${found}; the tests need ${oldest.version} or later (${oldest.reason})`,
    );
  }
}

function isOlder(version: string, than: string): boolean {
  const [found, wanted] = [version, than].map((text) => text.split('.').map(Number));
  const differing = wanted?.findIndex((part, index) => part !== found?.[index]) ?? -1;
  return differing >= 0 && (found?.[differing] ?? 0) < (wanted?.[differing] ?? 0);
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
