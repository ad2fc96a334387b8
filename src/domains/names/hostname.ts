import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { getDomain } from 'tldts';
import { AppError, invalidField } from '../../ground/kernel/errors.js';
import { parseUrl } from '../../ground/kernel/networks.js';

/** Enough for any spelling of a 253-character name and for a pasted link; longer input is refused unread. */
const MAX_INPUT_LENGTH = 1_000;
const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/**
 * Parses the host name to attach; a pasted `https://www.example.org/` is understood. `platformHosts` and all names below them belong to the platform.
 * Throws `AppError invalid_request` for the field `hostname`; the message says what to enter instead.
 */
export function parseHostname(input: string, platformHosts: readonly string[]) {
  const hostname = asciiOf(withoutLink(input));
  const ours = platformHosts.map((host) => normalizeHostname(host) ?? host.toLowerCase());
  if (isBelow(hostname, ours)) {
    refuse(
      `must be a domain of your own: ${hostname} belongs to this platform. Enter a name from your DNS provider, e.g. ${EXAMPLE}`,
    );
  }
  const reserved = RESERVED.find(([zone]) => isBelow(hostname, [zone]));
  if (reserved) {
    const [zone, reason] = reserved;
    refuse(
      `must be a name of the public DNS: .${zone} ${reason}, so no certificate authority issues a certificate for it. Enter a name that you registered, e.g. ${EXAMPLE}`,
    );
  }
  const registrableDomain = getDomain(hostname, AS_IT_STANDS);
  if (registrableDomain === null) {
    refuse(
      `must be a domain of your own: ${hostname} is a public suffix, and anybody may register names below it. Enter the name you registered, e.g. www.yourname.${hostname}`,
    );
  }
  return {
    /** In lower case and ASCII (`xn--…`), without a trailing dot. */
    hostname,
    /** The public suffix and one label. */
    registrableDomain,
    /** A guess from the public suffix list. Only the zone's SOA record tells whether the name is an apex. */
    isApexByList: hostname === registrableDomain,
  };
}

/** The name below its registrable domain; `@` = it is the registrable domain, or has none. RFC 1035 §5.1. */
export function labelOf(name: string): string {
  const zone = getDomain(name, AS_IT_STANDS);
  return zone === null || zone === name ? '@' : name.slice(0, -zone.length - 1);
}

/** The form for comparisons: as `parseHostname`, without checking whose name it is. Null = not a host name. */
export function normalizeHostname(input: string): string | null {
  try {
    return asciiOf(input);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

const EXAMPLE = 'shop.example.com';
// By default tldts extracts the host from URLs with its own rules, and ignores the list's private part (`github.io`).
const AS_IT_STANDS = { extractHostname: false, validateHostname: false, allowPrivateDomains: true };

function refuse(message: string): never {
  throw invalidField('hostname', message);
}

const isBelow = (hostname: string, hosts: readonly string[]) =>
  hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));

/**
 * Drops the scheme of a web address and its bare trailing slash, which browsers add to a copied name. A port, a path or a
 * user name stays, and is refused: its owner may expect that it counts.
 */
function withoutLink(input: string): string {
  if (input.length > MAX_INPUT_LENGTH) return input;
  return input.trim().replace(/^(?:https?:\/\/)?([^/]+)\/?$/i, '$1');
}

function asciiOf(input: string): string {
  if (input.length > MAX_INPUT_LENGTH) refuse(`must have at most ${MAX_NAME_LENGTH} characters`);
  const typed = input.trim();
  if (typed === '') refuse(`must not be empty: enter the host name, e.g. ${EXAMPLE}`);
  refuseOtherThings(typed);
  const ascii = domainToASCII(typed).replace(/\.$/, '');
  if (isIP(ascii) !== 0 || endsInNumber(ascii || typed)) refuseAddress();
  if (ascii === '') refuseUndecodable(typed.toLowerCase());
  refuseMalformed(ascii);
  return ascii;
}

/** Refuses pasted text that is no name. `domainToASCII` would accept most of it: `a%2ecom`, `a.com/b`, `a\tb.com`. */
function refuseOtherThings(typed: string): void {
  if (isIP(typed.replace(/^\[|\]$/g, '')) !== 0) refuseAddress();
  if (/^[*＊][.。．｡]/.test(typed)) {
    const zone = hostnameInside(typed.slice(2)) ?? 'example.com';
    refuse(`must be one host name: wildcards are not supported. Add each name separately, e.g. www.${zone}`);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern refuses control characters
  if (!/[\s\u0000-\u001f\u007f%/\\?#@:[\]*,;<>"'`|^{}()&=+!$~]/.test(typed)) return;
  const meant = hostnameInside(typed);
  refuse(`must be the host name only, without port, path, user name or spaces, e.g. ${meant ?? EXAMPLE}`);
}

function hostnameInside(typed: string): string | null {
  const link = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `http://${typed.replace(/^\/\//, '')}`;
  const hostname = /\s/.test(typed) ? null : parseUrl(link)?.hostname;
  // The result of URL can still be an address, or contain characters that no host name has.
  return hostname && /^[\w.-]+$/.test(hostname) ? normalizeHostname(hostname) : null;
}

function refuseAddress(): never {
  refuse(`must be a host name, not an IP address: enter the name that visitors type, e.g. ${EXAMPLE}`);
}

// URL parsers read a name that ends in a number as an IPv4 address, or refuse it. No top-level domain is a number.
const endsInNumber = (name: string) => /(^|\.)(\d+|0x[\da-f]*)\.?$/i.test(name);

function refuseMalformed(name: string): void {
  if (name.length > MAX_NAME_LENGTH) {
    refuse(`must have at most ${MAX_NAME_LENGTH} characters, but has ${name.length}`);
  }
  if (name.includes('_')) refuse('must not have an underscore: no certificate is issued for such a name');
  if (!/^[a-z0-9.-]+$/.test(name)) {
    refuse(`must be a host name with letters, digits, hyphens and dots only, e.g. ${EXAMPLE}`);
  }
  const labels = name.split('.');
  if (labels.includes('')) {
    refuse(`must have characters between its dots, e.g. ${labels.filter(Boolean).join('.') || EXAMPLE}`);
  }
  if (labels.some((label) => label.length > MAX_LABEL_LENGTH)) {
    refuse(`must have at most ${MAX_LABEL_LENGTH} characters between two dots`);
  }
  if (labels.some((label) => /^-|-$/.test(label))) {
    refuse('must not have a hyphen next to a dot, at the start or at the end');
  }
  refuseUndecodable(name);
  // RFC 5890 §2.3.1: reserved; CAs issue no certificates for such names.
  if (labels.some((label) => /^..--/.test(label) && !label.startsWith('xn--'))) {
    refuse('must not have two hyphens as the third and fourth character between two dots');
  }
  if (labels.length === 1) {
    refuse(`must be a full name with its domain, e.g. ${EXAMPLE}, not ${name} alone`);
  }
}

/**
 * Refuses a label `xn--…` that decodes to no text, or to a text that has another label. `domainToASCII` of Node 20 refuses
 * some of them, and that of Node 24.21 and 26 (Ada 4) none in a name of ASCII characters. RFC 5891 §5.4.
 */
function refuseUndecodable(name: string): void {
  const label = name.split('.').find((label) => label.startsWith('xn--') && !isEncoded(label));
  if (label === undefined) return;
  refuse(
    `must not have ${label.slice(0, MAX_LABEL_LENGTH)}: this is no valid encoding of a name. Enter the name as people read it, e.g. bücher.example`,
  );
}

function isEncoded(label: string): boolean {
  const decoded = domainToUnicode(label);
  return decoded !== label && domainToASCII(decoded) === label;
}

/**
 * Names that can't exist in public DNS: IANA's special-use domain names and ICANN's reserved names. `test` and `example` are
 * omitted: nobody can own names there, but test networks use them. A longer name comes before its suffix.
 */
const RESERVED: readonly (readonly [zone: string, reason: string])[] = [
  ['onion', 'names exist only in the Tor network (RFC 7686)'],
  ['internal', 'is reserved for private networks (ICANN, 29 July 2024)'],
  ['local', 'names exist only on one local network (RFC 6762)'],
  ['localhost', "always means the visitor's own machine (RFC 6761)"],
  ['invalid', 'names never exist (RFC 6761)'],
  ['alt', 'is reserved for names outside DNS (RFC 9476)'],
  ['home.arpa', 'is reserved for home networks (RFC 8375)'],
  ['in-addr.arpa', 'maps addresses to names (RFC 1035)'],
  ['ip6.arpa', 'maps addresses to names (RFC 3596)'],
  ['arpa', 'is reserved for the infrastructure of the Internet (RFC 3172)'],
];
