import { BlockList, isIPv4 } from 'node:net';
import type { SpanContext } from '@opentelemetry/api';

/** W3C Trace Context §3.2. A later version may add fields. */
const TRACE_PARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** The span of the client that a `traceparent` header names; null = the header is missing or malformed. */
export function readTraceParent(header: string | string[] | undefined): SpanContext | null {
  if (typeof header !== 'string') return null;
  const [, version, traceId, spanId, flags, more] = TRACE_PARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags as string, 16) & SAMPLED, isRemote: true };
}

/** Returns whether an address is in one of the networks, which are valid. */
export function networkTest(networks: readonly string[]): (address: string | undefined) => boolean {
  if (networks.length === 0) return () => false;
  const known = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    known.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return (given) => {
    const address = given?.replace(/^::ffff:(?=\d+\.)/, '');
    return address !== undefined && known.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  };
}
