import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.js';

const MAX_HEADERS = 100;
const HOST = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([1-9]\d{0,4}))?$/i;
const MAX_PORT = 65_535;

/** Headers of which readers may take the first one or the last one, by the length of their names: each request is searched. */
const SINGLETONS: Partial<Record<number, keyof typeof NAMES>> = {
  4: 'host',
  13: 'authorization',
  17: 'transfer-encoding',
};
const NAMES = {
  host: 'Host',
  authorization: 'Authorization',
  'transfer-encoding': 'Transfer-Encoding',
} as const;

type RequestHead = Pick<IncomingMessage, 'url' | 'rawHeaders' | 'httpVersion'>;

/**
 * Why a request must not be routed although Node parsed it; null = it may. Node lets several Host and Authorization
 * headers, a host that is no host name, unknown transfer codings and the absolute form through, and silently drops
 * headers over its count.
 */
export function requestProblem({ url = '/', rawHeaders, httpVersion }: RequestHead): AppError | null {
  if (rawHeaders.length / 2 > MAX_HEADERS)
    return invalid(`The request has more than ${MAX_HEADERS} headers.`);
  const found: Partial<Record<keyof typeof NAMES, string>> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] as string;
    const name = SINGLETONS[given.length];
    if (name === undefined || given.toLowerCase() !== name) continue;
    if (found[name] !== undefined) return invalid(`The request has more than one ${NAMES[name]} header.`);
    found[name] = rawHeaders[index + 1] as string;
  }
  const { host, 'transfer-encoding': coding } = found;
  if (host === undefined && httpVersion === '1.1') return invalid('The request has no Host header.');
  if (host !== undefined && !isHostAndPort(host)) return invalid('The Host header is no host name.');
  // RFC 9112 §6.1: a proxy in front may have read another length of the body.
  if (coding !== undefined && (httpVersion !== '1.1' || coding.toLowerCase() !== 'chunked'))
    return invalid('The only Transfer-Encoding here is chunked, in HTTP/1.1.');
  if (!url.startsWith('/') && url !== '*')
    return invalid('The request is for another host than its Host header.');
  return null;
}

/** Why what a trusted proxy says of the host can't be used; null = it can. `host` as Fastify takes it from the headers. */
export function forwardedProblem(host: string): AppError | null {
  return host === '' || isHostAndPort(host) ? null : invalid('The X-Forwarded-Host header is no host name.');
}

/** Why a request for this target must not be routed, wherever it was to lead; null = it may. */
export function targetProblem(url: string): AppError | null {
  return isDecodable(url) ? null : invalid('The path has a "%" that encodes nothing.');
}

/** The target itself, or one that has a route where the target can't be decoded: `targetProblem` refuses it there. */
export function routable(url: string): string {
  return isDecodable(url) ? url : url.replaceAll('%', '%25');
}

/** The path of an absolute-form request for the host that it also names; every other target stays as it is. */
export function originForm(url: string, host: string | undefined): string {
  if (url.startsWith('/') || !URL.canParse(url)) return url;
  const target = new URL(url);
  return target.protocol === 'http:' && target.host === host?.toLowerCase()
    ? target.pathname + target.search
    : url;
}

function isHostAndPort(host: string): boolean {
  const found = HOST.exec(host);
  return found !== null && Number(found[1] ?? 1) <= MAX_PORT;
}

/** As the router decodes: the path, not the query. */
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
