/** Why a server failed (RFC 8914). A server chooses the code freely, so a code alone proves nothing (§6). */
export interface ExtendedError {
  code: number;
  /** Untrusted, often empty. */
  text: string;
}

/** The registered names by code: IANA, "Extended DNS Error Codes". */
const NAMES = [
  'Other Error',
  'Unsupported DNSKEY Algorithm',
  'Unsupported DS Digest Type',
  'Stale Answer',
  'Forged Answer',
  'DNSSEC Indeterminate',
  'DNSSEC Bogus',
  'Signature Expired',
  'Signature Not Yet Valid',
  'DNSKEY Missing',
  'RRSIGs Missing',
  'No Zone Key Bit Set',
  'NSEC Missing',
  'Cached Error',
  'Not Ready',
  'Blocked',
  'Censored',
  'Filtered',
  'Prohibited',
  'Stale NXDOMAIN Answer',
  'Not Authoritative',
  'Not Supported',
  'No Reachable Authority',
  'Network Error',
  'Invalid Data',
  'Signature Expired before Valid',
  'Too Early',
  'Unsupported NSEC3 Iterations Value',
] as const;
const ABOUT_DNSSEC = [1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 25, 27];
const SIGNATURE_EXPIRED = 7;
/** Resolvers write addresses, key numbers and our own test names into their text. */
const MAX_TEXT = 80;

/** `Not Ready: Zone is configured but not loaded`. The text is untrusted: cut, but not yet safe to show. */
export function extendedErrorInWords({ code, text }: ExtendedError): string {
  const name = NAMES[code] ?? `Extended Error ${code}`;
  // Some servers repeat the name in their text.
  const rest = text.startsWith(name) ? text.slice(name.length).replace(/^[\s:]+/, '') : text;
  const cut = rest.length > MAX_TEXT ? `${rest.slice(0, MAX_TEXT)}…` : rest;
  return cut === '' ? name : `${name}: ${cut}`;
}

/** The registered name only. */
export function extendedErrorName({ code }: ExtendedError): string {
  return extendedErrorInWords({ code, text: '' });
}

export function isAboutDnssec(error: ExtendedError | null): boolean {
  return error !== null && ABOUT_DNSSEC.includes(error.code);
}

export function isAboutExpiry(error: ExtendedError | null): boolean {
  return error?.code === SIGNATURE_EXPIRED;
}
