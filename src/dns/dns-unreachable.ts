import type { DnsServer } from '../config.js';
import type { Question } from './dns-message.js';

export type Silence = 'timeout' | 'unreachable' | 'malformed' | 'not asked';

/**
 * A server could not be asked: it said nothing in time (or the asker gave up waiting), no packet reached it, what it said
 * can't be read, or too many questions were open at once. Tells nothing about the records.
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
