import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Headers that only a proxy adds, in addition to all that begin with `x-forwarded-`. */
const OF_PROXIES = ['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip'];
const OWN_SITE = ['none', 'same-origin'];

/**
 * Whether a page may show the demo key. The browser must be on this machine and name it. The request must have passed no
 * proxy, and another site must not have caused it. D-79.
 */
export function isOfThisMachine(request: IncomingMessage): boolean {
  return isLocal(request) && isDirect(request) && isOfOwnSite(request.headers);
}

/** Host is the name that the browser connects to: a name rebound to this address is not a loopback name. */
function isLocal({ socket, headers }: IncomingMessage): boolean {
  const [, host = ''] = /^(.*?)(?::\d+)?$/.exec(headers.host ?? '') ?? [];
  return isLoopback(socket.remoteAddress ?? '') && isLoopback(host);
}

/**
 * Every browser sends `Connection: keep-alive` in HTTP/1.1. The header belongs to one connection, and no proxy forwards
 * it (RFC 9110 §7.6.1): nginx sends HTTP/1.0 or `Connection: close`, or no such header. D-80.
 */
function isDirect({ httpVersion, headers }: IncomingMessage): boolean {
  const isOfProxy = (name: string) => name.startsWith('x-forwarded-') || OF_PROXIES.includes(name);
  const isOfBrowser = httpVersion === '1.1' && headers.connection?.toLowerCase() === 'keep-alive';
  return isOfBrowser && !Object.keys(headers).some(isOfProxy);
}

/** A browser names the site that caused a request. The gateway's own pages name this host. */
function isOfOwnSite(headers: IncomingHttpHeaders): boolean {
  const own = `http://${headers.host}`;
  const { origin = own, referer = `${own}/`, 'sec-fetch-site': site = 'none' } = headers;
  return origin === own && referer.startsWith(`${own}/`) && OWN_SITE.includes(String(site));
}

/** An address or a name that never leaves the machine. RFC 6761 §6.3. */
function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').replace(/^::ffff:/, '');
  const isName = bare === 'localhost' || bare.endsWith('.localhost');
  return isName || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
