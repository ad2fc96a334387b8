import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.js';

const MAX_HEADERS = 100;
const HOST = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

type RequestHead = Pick<IncomingMessage, 'url' | 'rawHeaders' | 'httpVersion'>;

/**
 * Why a request must not be routed although Node parsed it; null = it may. Node lets several Host headers, a host that is
 * no host name and the absolute form through, and silently drops headers over its count.
 */
export function requestProblem({ url = '/', rawHeaders, httpVersion }: RequestHead): AppError | null {
  if (rawHeaders.length / 2 > MAX_HEADERS)
    return invalid(`The request has more than ${MAX_HEADERS} headers.`);
  let host: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (!isHost(rawHeaders[index])) continue;
    if (host !== undefined) return invalid('The request has more than one Host header.');
    host = rawHeaders[index + 1];
  }
  if (host === undefined && httpVersion === '1.1') return invalid('The request has no Host header.');
  if (host !== undefined && !HOST.test(host)) return invalid('The Host header is no host name.');
  if (!url.startsWith('/') && url !== '*')
    return invalid('The request is for another host than its Host header.');
  return null;
}

/** The path of an absolute-form request for the host that it also names; every other target stays as it is. */
export function originForm(url: string, host: string | undefined): string {
  if (url.startsWith('/') || !URL.canParse(url)) return url;
  const target = new URL(url);
  return target.protocol === 'http:' && target.host === host?.toLowerCase()
    ? target.pathname + target.search
    : url;
}

function isHost(name: string | undefined): boolean {
  return name?.length === 4 && name.toLowerCase() === 'host';
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', message);
}
