import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Headers that a proxy adds: whoever sends one is not, or not only, a browser on this machine. */
const OF_PROXIES = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * The key of the demo project, known only to the process that made it, in memory. Shown on a page only to a browser on
 * the same machine that asks for this machine: whatever else reaches a demo must not be handed a key.
 */
export class DemoKey {
  private key: string | null = null;

  offer(key: string): void {
    this.key = key;
  }

  for({ raw, hostname, headers }: FastifyRequest): string | null {
    const isLocal = isLoopback(raw.socket.remoteAddress ?? '') && isLoopback(hostname);
    return isLocal && !OF_PROXIES.some((name) => name in headers) ? this.key : null;
  }
}

/** An address or a name that never leaves the machine. RFC 6761 §6.3. */
function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').replace(/^::ffff:/, '');
  const isName = bare === 'localhost' || bare.endsWith('.localhost');
  return isName || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
