import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import { parseUrl } from '../kernel/url.js';
import { ConfigError } from './config-error.js';

/** The address of a DNS server: an IP address and a port. */
export interface DnsServer {
  readonly address: string;
  readonly port: number;
}

function refuse(name: string, shouldBe: string, value: string): never {
  throw new ConfigError(`${name} must be ${shouldBe}, not ${JSON.stringify(value)}.`);
}

export function wholeNumber(
  name: string,
  value: string | null,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  if (value === null) return fallback;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  return refuse(name, `a whole number from ${min} to ${max}`, value);
}

export function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  return (
    allowed.find((candidate) => candidate === value) ?? refuse(name, `one of ${allowed.join(', ')}`, value)
  );
}

export function flag(name: string, value: string | null, fallback: boolean): boolean {
  if (value === null) return fallback;
  if (value === '1' || value === '0') return value === '1';
  return refuse(name, '1 or 0', value);
}

function httpUrl(value: string): URL | null {
  const url = parseUrl(value);
  return url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username ? url : null;
}

export function httpsUrl(name: string, value: string): string {
  const url = httpUrl(value);
  if (url?.protocol === 'https:') return url.href;
  return refuse(name, 'an https address such as https://acme.example.org/directory', value);
}

/** Without a trailing slash. The message does not repeat the value, which may hold a password. */
export function httpEndpoint(name: string, value: string): string {
  const url = httpUrl(value);
  if (url) return url.href.replace(/\/+$/, '');
  throw new ConfigError(
    `${name} must be an http(s) address such as http://127.0.0.1:4318, without a password.`,
  );
}

export function emailAddress(name: string, value: string | null): string | null {
  if (value === null || /^[^\s@,]+@[^\s@,]+$/.test(value)) return value;
  return refuse(name, 'an e-mail address', value);
}

export function baseUrl(name: string, value: string | null): string | null {
  if (value === null) return null;
  const url = httpUrl(value);
  if (!url || /\/v1\/?$/.test(url.pathname)) {
    return refuse(name, 'an http(s) address without /v1, such as https://api.example.com', value);
  }
  return url.href.replace(/\/+$/, '');
}

/** An address to listen on: an IP address or a name of this machine. */
export function listenHost(name: string, value: string): string {
  // Container names may have underscores.
  if (isIP(value) !== 0 || /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(value)) return value;
  return refuse(name, 'an IP address or a host name, such as 127.0.0.1', value);
}

export function hostname(name: string, value: string): string {
  if (/^(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/.test(value)) return value;
  return refuse(name, 'a lower-case host name such as petstore.example.com', value);
}

export function origins(name: string, value: string | null): string[] {
  return list(value).map((entry) => {
    if (httpUrl(entry)?.origin === entry) return entry;
    return refuse(name, 'origins separated by commas, such as https://app.example.com', entry);
  });
}

export function networks(name: string, value: string | null): string[] {
  return list(value).map((entry) => {
    const [address = '', bits, ...rest] = entry.split('/');
    const family = isIP(address);
    const isPrefix =
      bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
    if (family !== 0 && isPrefix && rest.length === 0) return entry;
    return refuse(name, 'addresses or networks separated by commas, such as 10.0.0.0/8', entry);
  });
}

export function readableFile(name: string, path: string | null): string | null {
  if (path === null) return null;
  try {
    accessSync(path, constants.R_OK);
    return path;
  } catch {
    return refuse(name, 'a PEM file that can be read', path);
  }
}

export function dnsServer(name: string, entry: string): DnsServer {
  const [, v6, v6Port] = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(entry) ?? [];
  const [, v4, v4Port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const address = v6 ?? v4 ?? entry;
  const port = Number(v6Port ?? v4Port ?? 53);
  if (isIP(address) !== 0 && port >= 1 && port <= 65_535) return { address, port };
  return refuse(name, 'addresses separated by commas, such as 9.9.9.9 or [2620:fe::fe]:53', entry);
}

export function list(value: string | null): string[] {
  const entries = (value ?? '').split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '');
}
