import { isJsonObject, jsonIn } from '../../../ground/kernel/json.js';
import { AcmeProblem, AcmeUnreachable, parseRetryAfter } from './acme-problem.js';
import type { AcmeResponse } from './acme-transport.js';

// Every reader throws `AcmeUnreachable` when the answer is not what it reads.

/** RFC 8555 §7.1.1, RFC 9773 §4. */
export type AcmeDirectory = ReturnType<typeof readDirectory>;
/** RFC 8555 §7.1.3. */
export type Order = ReturnType<typeof readOrder>;
/** RFC 8555 §7.1.4. */
export type Authorization = ReturnType<typeof readAuthorization>;
/** The CA's suggested time window for a renewal. RFC 9773 §4.2. */
export type RenewalWindow = ReturnType<typeof readRenewalWindow>;

/** An order for one name usually has one authorization, which costs up to two requests, with three challenges. */
const LIST_SIZE = 10;
const MAX_IDENTITIES = 100;
/** RFC 8555 §8.3, and no longer than the database column. */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;

/** The error of an answer without a status of success. A Retry-After is part of it. */
export function readRefusal({ url, status, headers, body }: AcmeResponse, nowMs: number): Error {
  const retryAfterSeconds = parseRetryAfter(headers['retry-after'], nowMs);
  const document = jsonIn(body);
  const detail = `HTTP ${status} without a reason`;
  if (!isJsonObject(document) && (status < 400 || status > 499)) {
    return new AcmeUnreachable(detail, { url, retryAfterSeconds });
  }
  // A proxy in front of the CA knows no types of problems.
  const type = status === 429 ? 'urn:ietf:params:acme:error:rateLimited' : 'about:blank';
  return new AcmeProblem(
    { type, ...(isJsonObject(document) ? document : { detail }) },
    { url, status, retryAfterSeconds },
  );
}

export function readDirectory(response: AcmeResponse) {
  const { url, headers } = response;
  const { newNonce, newAccount, newOrder, renewalInfo, meta } = jsonOf(response);
  const identities = (meta as { caaIdentities?: unknown } | undefined)?.caaIdentities;
  const dateMs = Date.parse(headers.date ?? '');
  return {
    newNonce: text(newNonce, url),
    newAccount: text(newAccount, url),
    newOrder: text(newOrder, url),
    /** Null = the CA gives no renewal advice. */
    renewalInfo: typeof renewalInfo === 'string' ? renewalInfo : null,
    /** Issuer names for CAA records. */
    caaIdentities: list(identities, MAX_IDENTITIES)
      .filter((name) => typeof name === 'string')
      .map((name) => name.toLowerCase()),
    /** The CA's clock, from the Date header; null = no valid header. */
    dateMs: Number.isNaN(dateMs) ? null : dateMs,
  };
}

export function readOrder(response: AcmeResponse, url: string, nowMs: number) {
  const { status, authorizations, finalize, certificate, error } = jsonOf(response);
  return {
    url,
    status: oneOf(['pending', 'ready', 'processing', 'valid', 'invalid'], status, url),
    authorizations: list(authorizations).map((item) => text(item, url)),
    finalize: text(finalize, url),
    /** Null = not issued yet. */
    certificate: certificate === undefined ? null : text(certificate, url),
    error: problem(error, url),
    /** How long to wait before asking again; null = the CA did not say. */
    retryAfterSeconds: parseRetryAfter(response.headers['retry-after'], nowMs),
  };
}

export function readAuthorization(response: AcmeResponse) {
  const { url } = response;
  const { status, challenges } = jsonOf(response);
  const offered = list(challenges) as (Record<string, unknown> | null)[];
  const usable = offered.find(
    (one) => one?.type === 'http-01' && typeof one.token === 'string' && TOKEN.test(one.token),
  );
  return {
    status: oneOf(['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked'], status, url),
    /** The HTTP-01 challenge; null = the CA offers none. D-69. */
    challenge: usable ? readChallenge(usable, url) : null,
  };
}

export function readRenewalWindow(response: AcmeResponse) {
  const { suggestedWindow } = jsonOf(response) as { suggestedWindow?: { start?: unknown; end?: unknown } };
  const startMs = Date.parse(String(suggestedWindow?.start));
  const endMs = Date.parse(String(suggestedWindow?.end));
  if (!(endMs > startMs)) {
    throw new AcmeUnreachable('the answer names no renewal window', { url: response.url });
  }
  return { startMs, endMs };
}

/** RFC 8555 §8. */
function readChallenge({ url, status, token, error }: Record<string, unknown>, authorizationUrl: string) {
  return {
    url: text(url, authorizationUrl),
    status: oneOf(['pending', 'processing', 'valid', 'invalid'], status, authorizationUrl),
    token: text(token, authorizationUrl),
    error: problem(error, authorizationUrl),
  };
}

function problem(document: unknown, url: string): AcmeProblem | null {
  if (typeof document !== 'object' || document === null) return null;
  const { status } = document as { status?: unknown };
  const context = { url, status: typeof status === 'number' ? status : 403, isValidation: true };
  return new AcmeProblem(document as Record<string, unknown>, context);
}

function oneOf<const T extends string>(allowed: readonly T[], value: unknown, url: string): T {
  const known = allowed.find((candidate) => candidate === value);
  if (known === undefined) throw new AcmeUnreachable('the answer has no status that ACME defines', { url });
  return known;
}

function text(value: unknown, url: string): string {
  if (typeof value === 'string') return value;
  throw new AcmeUnreachable('the answer lacks a field that ACME requires', { url });
}

function list(value: unknown, most = LIST_SIZE): unknown[] {
  return Array.isArray(value) ? value.slice(0, most) : [];
}

function jsonOf({ url, body }: AcmeResponse): Record<string, unknown> {
  const document = jsonIn(body);
  if (isJsonObject(document)) return document;
  throw new AcmeUnreachable('the answer is not a JSON object', { url });
}
