import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { AppError } from '../../ground/kernel/errors.js';
import { parseUrl } from '../../ground/kernel/networks.js';

export const MAX_HEADERS = 100;
const HOST = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([1-9]\d{0,4}))?$/i;
const MAX_PORT = 65_535;

/** Headers of which some readers take the first and others the last value. */
const SINGLETONS = ['Host', 'Authorization', 'Transfer-Encoding'] as const;

interface Entrance {
  /** Whether proxies are trusted: then the host of a request may come from `X-Forwarded-Host`. */
  hasProxies: boolean;
  ingress: {
    /** Sets `request.site`, or responds, or throws, or rejects. Returns no promise if nothing has to wait. */
    enter(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined;
  };
  /** Adds the headers for responses that are sent before a door sees the request. May throw another refusal instead. */
  onEarlyRefusal: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

/** Refuses requests before a door sees them: heads that cannot be trusted, hosts that are not served, impossible paths. */
export function refuseEarly({ hasProxies, ingress, onEarlyRefusal }: Entrance): onRequestHookHandler {
  /** Throws, or rejects with, `AppError`. */
  const enter = (request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined => {
    const problem = headProblem(request);
    if (problem) {
      // The framing of the request can't be trusted, so nothing after it is read.
      reply.header('connection', 'close');
      throw problem;
    }
    // Fastify takes the host from the headers of a trusted proxy.
    if (hasProxies && request.host !== '' && !isHostAndPort(request.host))
      throw invalid('The X-Forwarded-Host header is not a host name.');
    const entering = ingress.enter(request, reply);
    if (isDecodable(request.originalUrl)) return entering;
    return Promise.resolve(entering).then(() => {
      // A redirect has answered already, with the same path, byte for byte.
      if (!reply.sent) throw invalid('The path has a "%" that encodes nothing.');
    });
  };
  return (request, reply, done) => {
    let entering: Promise<void> | undefined;
    try {
      entering = enter(request, reply);
    } catch (problem) {
      entering = Promise.reject(problem);
    }
    if (!entering) return proceed(request, reply, done);
    const refuse = (problem: Error) => onEarlyRefusal(request, reply).then(() => done(problem), done);
    entering.then(() => proceed(request, reply, done), refuse);
  };
}

function proceed(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (reply.sent) return;
  // RFC 9110 §9.3.7: this is about the server as a whole, not about a path.
  if (request.originalUrl === '*') reply.send();
  else done();
}

/**
 * The reason to refuse a request that Node has parsed; null = none. Node accepts several Host and Authorization headers,
 * a Host that is not a host name, unknown transfer codings, and the absolute form. It silently drops headers over its
 * limit.
 */
function headProblem({ method, originalUrl: target, raw }: FastifyRequest): AppError | null {
  const { headers, rawHeaders, httpVersion } = raw;
  if (rawHeaders.length / 2 > MAX_HEADERS)
    return invalid(`The request has more than ${MAX_HEADERS} headers.`);
  // Most requests repeat none.
  const isAnyRepeated = Object.keys(headers).length < rawHeaders.length / 2;
  const repeated = isAnyRepeated && SINGLETONS.find((name) => isRepeated(name.toLowerCase(), rawHeaders));
  if (repeated) return invalid(`The request has more than one ${repeated} header.`);
  const { host, 'transfer-encoding': coding } = headers;
  if (host === undefined && httpVersion === '1.1') return invalid('The request has no Host header.');
  if (host !== undefined && !isHostAndPort(host)) return invalid('The Host header is not a host name.');
  // RFC 9112 §6.1: a proxy in front may have read a different body length.
  if (coding !== undefined && (httpVersion !== '1.1' || coding.toLowerCase() !== 'chunked'))
    return invalid('The only Transfer-Encoding here is chunked, in HTTP/1.1.');
  // RFC 9112 §3.2.4.
  if (target === '*') return method === 'OPTIONS' ? null : invalid('Only OPTIONS may ask for "*".');
  if (!target.startsWith('/') && !isForHost(target, host))
    return invalid('The request is for another host than its Host header.');
  return null;
}

/** Whether a target in absolute form names the host of the request. */
function isForHost(target: string, host: string | undefined): boolean {
  const url = parseUrl(target);
  return url?.protocol === 'http:' && url.host === host?.toLowerCase();
}

function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length > 1;
}

/** The path and query of a target; `/` for a target without a path. Only some are accepted: see `headProblem`. */
export function pathOf(target: string): string {
  if (target.startsWith('/')) return target;
  const url = parseUrl(target);
  return url?.pathname.startsWith('/') ? url.pathname + url.search : '/';
}

/** The path that the router gets. It is escaped if it can't be decoded, so that it still reaches the hooks of a route. */
export function routable(target: string): string {
  const path = pathOf(target);
  return isDecodable(path) ? path : path.replaceAll('%', '%25');
}

function isHostAndPort(host: string): boolean {
  const found = HOST.exec(host);
  return found !== null && Number(found[1] ?? 1) <= MAX_PORT;
}

/** Decodes as the router does: the path, not the query. */
function isDecodable(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURI(url.replace(/[?#].*$/s, ''));
    return true;
  } catch {
    return false;
  }
}

const invalid = (message: string) => new AppError('invalid_request', message);
