import type { DnsServer } from '../config/config.js';
import type { Question } from './dns-message.js';

export type Silence = 'timeout' | 'unreachable' | 'malformed' | 'not asked';

/**
 * A server could not be asked, which says nothing about the records. `timeout`: no answer in time, or the caller aborted.
 * `unreachable`: no packet reached it. `malformed`: its answer can't be read. `not asked`: too many open questions.
 */
export class DnsUnreachable extends Error {
  constructor(
    readonly server: DnsServer,
    readonly question: Question,
    readonly reason: Silence,
    readonly atMs: number,
  ) {
    super(`${serverName(server)} on ${question.name} ${question.type}: ${reason}`);
    this.name = 'DnsUnreachable';
  }
}

/** `192.0.2.1:53`, `[2001:db8::1]:53` */
export function serverName({ address, port }: DnsServer): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
