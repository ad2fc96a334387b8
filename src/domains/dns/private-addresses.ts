import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Only 2000::/3 is allocated, and of it 3ffe::/16 is no longer. */
const IPV6_IN_USE = { from: 0x2000, before: 0x3ffe };

/** Whether the address is not public: private, loopback, link-local, multicast, reserved, or no IP address. D-223. */
export function isPrivateAddress(ip: string): boolean {
  if (isIP(ip) === 0) return true;
  const address = ipaddr.parse(ip);
  if (address.range() !== 'unicast') return true;
  if (address instanceof ipaddr.IPv4) return false;
  const [first = 0] = address.parts;
  return first < IPV6_IN_USE.from || first >= IPV6_IN_USE.before;
}
