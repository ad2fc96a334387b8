import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All keys of a project spend from one quota: more keys do not multiply the plan. */
export function projectSubject(projectId: bigint): string {
  return `project:${projectId}`;
}

/** A field with its own limit, counted per project or per key. `field` is `Type.field`. */
export function fieldSubject(ownerId: string, field: string): string {
  return `field:${ownerId}:${field}`;
}

/** The name under which a subject's allowance is counted. */
export function allowanceSubject(subject: string, allowance: string): string {
  return `${subject}:${allowance}`;
}

/**
 * The subject of a request without a valid key: its address. IPv6 counts by /64, because a single customer of a provider
 * has that many addresses. An IPv4 address in IPv6 form counts as the IPv4 address; a port, which some proxies add, is
 * dropped. All texts that are not an address share one subject.
 */
export function addressSubject(text: string): string {
  const [, bracketed, dotted] = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  if (isIPv4(address)) return `address:${address}`;
  return `address:${isIPv6(address) ? network(address) : 'unknown'}`;
}

/** Requests that need no key. Counted apart from requests that lack one, and evicted like them: see `isAddress`. */
export function visitSubject(address: string): string {
  return `${addressSubject(address)}:visits`;
}

/** Counters of addresses last a minute, are never stored, and are evicted first when memory is short. */
export function isAddress(subject: string): boolean {
  return subject.startsWith('address:');
}

/** The /64 of an IPv6 address, or the IPv4 address that it contains. */
function network(address: string): string {
  // A zone (`%eth0`) is not part of the address.
  const parsed = ipaddr.IPv6.parse(address.replace(/%.*/, ''));
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const groups = parsed.parts.map((part) => part.toString(16));
  return `${groups.slice(0, 4).join(':')}::/64`;
}
