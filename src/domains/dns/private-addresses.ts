import { BlockList, isIP } from 'node:net';

/** Networks outside the public Internet: IANA's registries of special-purpose addresses (RFC 6890), and multicast. */
const NETWORKS_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** All of IPv6 except 2000::/3, and the ranges of it that are reserved or embed an unchecked IPv4 address (6to4, Teredo). */
const NETWORKS_V6 = [
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3ffe::/16',
  '3fff::/20',
];

/** Two lists: in a joint list ::/3 also matches IPv4 addresses, which Node compares as ::ffff:0:0/96. */
const PRIVATE = { ipv4: blockList('ipv4', NETWORKS_V4), ipv6: blockList('ipv6', NETWORKS_V6) };

/** Whether the address is not public: private, loopback, link-local, multicast, reserved, or no IP address. */
export function isPrivateAddress(ip: string): boolean {
  const family = isIP(ip);
  if (family === 0) return true;
  return family === 4 ? PRIVATE.ipv4.check(ip, 'ipv4') : PRIVATE.ipv6.check(ip, 'ipv6');
}

function blockList(family: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
  const blocked = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    blocked.addSubnet(address, Number(bits), family);
  }
  return blocked;
}
