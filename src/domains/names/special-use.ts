/** The reason why the name can't exist in public DNS, as the end of a sentence; null = it may be public. */
export function specialUseOf(hostname: string): string | null {
  const zone = RESERVED.find(([name]) => hostname === name || hostname.endsWith(`.${name}`));
  return zone ? `.${zone[0]} ${zone[1]}` : null;
}

/**
 * IANA's special-use domain names and ICANN's reserved names. `test` and `example` are omitted: nobody can own names there,
 * but test networks use them. A longer name comes before its suffix.
 */
const RESERVED: readonly (readonly [name: string, reason: string])[] = [
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
