import { isIPv4, isIPv6 } from 'node:net';

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

function network(address: string): string {
  // A zone (`%eth0`) is not part of the address; the URL parser writes each address in its canonical form.
  const canonical = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (mapped) {
    const bits = (Number.parseInt(mapped[1] ?? '', 16) << 16) | Number.parseInt(mapped[2] ?? '', 16);
    return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
  }
  const [left = '', right] = canonical.split('::');
  const groups = left === '' ? [] : left.split(':');
  const zeros = right === undefined ? 0 : 8 - groups.length - (right === '' ? 0 : right.split(':').length);
  const all = [...groups, ...Array<string>(zeros).fill('0'), ...(right ? right.split(':') : [])];
  return `${all.slice(0, 4).join(':')}::/64`;
}
