/** Why no visitor ever finds the name in public DNS, as the end of a sentence; null = it may be a public one. */
export function specialUseOf(hostname: string): string | null {
  const zone = RESERVED.find(([name]) => hostname === name || hostname.endsWith(`.${name}`));
  return zone ? `.${zone[0]} ${zone[1]}` : null;
}

/**
 * IANA's special-use domain names, and what ICANN reserved. `test` and `example` are left out: nobody can own a name there
 * either, but test networks serve them. The longer name comes first.
 */
const RESERVED: readonly (readonly [name: string, reason: string])[] = [
  ['onion', 'names exist only in the Tor network (RFC 7686)'],
  ['internal', 'is reserved for private networks (ICANN, 29 July 2024)'],
  ['local', 'names exist only on one local network (RFC 6762)'],
  ['localhost', "always means the visitor's own machine (RFC 6761)"],
  ['invalid', 'names never exist (RFC 6761)'],
  ['alt', 'is reserved for names outside DNS (RFC 9476)'],
  ['home.arpa', 'is reserved for home networks (RFC 8375)'],
  ['in-addr.arpa', 'leads from addresses back to names (RFC 1035)'],
  ['ip6.arpa', 'leads from addresses back to names (RFC 3596)'],
  ['arpa', 'is reserved for the infrastructure of the Internet (RFC 3172)'],
];
