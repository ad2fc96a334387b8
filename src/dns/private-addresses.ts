import { BlockList, isIP } from 'node:net';

/** Networks that are not of the public Internet: IANA's registries of special-purpose addresses (RFC 6890), and multicast. */
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
/** IPv6 without 2000::/3, and what of that is reserved, or holds an IPv4 address that nobody checks (6to4, Teredo). */
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

/** Two lists, because ::/3 also matches IPv4 addresses in one: Node compares them as ::ffff:0:0/96. */
const PRIVATE = { ipv4: blockList('ipv4', NETWORKS_V4), ipv6: blockList('ipv6', NETWORKS_V6) };

/** Whether no host of the public Internet has this address: private, loopback, link-local, multicast, reserved. */
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
