import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { AppError } from '../../ground/kernel/errors.js';
import { parseUrl } from '../../ground/kernel/url.js';
import { replyWithError } from './error-reply.js';

export const MAX_HEADERS = 100;
const HOST = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([1-9]\d{0,4}))?$/i;
const MAX_PORT = 65_535;

/** Headers of which some readers take the first and others the last value. */
const SINGLETONS = ['Host', 'Authorization', 'Transfer-Encoding'] as const;

type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'rawHeaders' | 'httpVersion'>;

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
export class EarlyRefusals {
  constructor(private readonly entrance: Entrance) {}

  readonly check: onRequestHookHandler = (request, reply, done) => {
    const entering = this.enter(request, reply);
    if (entering) entering.then(() => proceed(request, reply, done), done);
    else proceed(request, reply, done);
  };

  /** Responds to an error of Fastify's own, for which the hooks do not run. */
  async refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      await this.enter(request, reply);
      if (!reply.sent) await this.refuseEarly(error, request, reply);
    } catch (refusal) {
      replyWithError(refusal, request, reply);
    }
  }

  /** Throws nothing, but may reject with `AppError`. */
  private enter(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const refuse = (problem: unknown) => this.refuseEarly(problem, request, reply);
    try {
      return this.checkRequest(request, reply)?.catch(refuse);
    } catch (problem) {
      return refuse(problem);
    }
  }

  private checkRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const { hasProxies, ingress } = this.entrance;
    const ofHead = requestProblem(request.raw);
    // The framing of the request can't be trusted, so nothing after it is read.
    if (ofHead) reply.header('connection', 'close');
    const problem = ofHead ?? (hasProxies ? forwardedProblem(request.host) : null);
    if (problem) throw problem;
    const entering = ingress.enter(request, reply);
    const ofTarget = targetProblem(request.originalUrl);
    if (!ofTarget) return entering;
    return Promise.resolve(entering).then(() => {
      if (!reply.sent) throw ofTarget;
    });
  }

  private async refuseEarly(problem: unknown, request: FastifyRequest, reply: FastifyReply): Promise<never> {
    await this.entrance.onEarlyRefusal(request, reply);
    throw problem;
  }
}

function proceed(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (reply.sent) return;
  // RFC 9110 §9.3.7: this is about the server as a whole. Fastify's router treats it as `/`.
  if (request.url === '*' && request.method === 'OPTIONS') reply.send();
  else done();
}

/**
 * The reason to refuse a request that Node has parsed; null = none. Node accepts several Host and Authorization headers,
 * a Host that is not a host name, unknown transfer codings, and the absolute form. It silently drops headers over its
 * limit.
 */
function requestProblem({
  method,
  url = '/',
  headers,
  rawHeaders,
  httpVersion,
}: RequestHead): AppError | null {
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
  // RFC 9112 §3.2.4. Fastify's router treats it as `/`.
  if (url === '*' && method !== 'OPTIONS') return invalid('Only OPTIONS may ask for "*".');
  if (!url.startsWith('/') && url !== '*')
    return invalid('The request is for another host than its Host header.');
  return null;
}

function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length > 1;
}

/**
 * The reason why the host from a trusted proxy can't be used; null = it can. `host` is Fastify's, taken from the headers.
 */
function forwardedProblem(host: string): AppError | null {
  return host === '' || isHostAndPort(host)
    ? null
    : invalid('The X-Forwarded-Host header is not a host name.');
}

/** The reason to refuse a request with this target, on any host; null = none. */
function targetProblem(url: string): AppError | null {
  return isDecodable(url) ? null : invalid('The path has a "%" that encodes nothing.');
}

/** The target, escaped if it can't be decoded so that it still matches a route: `targetProblem` then refuses it. */
export function routable(url: string): string {
  return isDecodable(url) ? url : url.replaceAll('%', '%25');
}

/** The path of an absolute-form request, if it names the same host as its Host header; every other target is unchanged. */
export function originForm(url: string, host: string | undefined): string {
  const target = url.startsWith('/') ? null : parseUrl(url);
  return target?.protocol === 'http:' && target.host === host?.toLowerCase()
    ? target.pathname + target.search
    : url;
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

function invalid(message: string): AppError {
  return new AppError('invalid_request', message);
}
