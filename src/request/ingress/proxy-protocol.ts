import { isIPv4, isIPv6, type Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import ipaddr from 'ipaddr.js';

/** A proxy sends the header at once, in its first packet. */
const HEADER_MS = 2_000;
/** The longest header of version 1. */
const MOST_BYTES_OF_LINE = 107;
/** A header with more fields than any proxy sends is refused. Version 2 allows 64 KB. */
const MOST_BYTES = 536;
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const LINE = /^PROXY (?:UNKNOWN(?: [^\r\n]*)?|TCP([46]) ([^ ]+) [^ ]+ \d{1,5} \d{1,5})\r\n$/;
/** The first bytes of a handshake, and of a header of either version. */
const [HANDSHAKE, VERSION_1, VERSION_2] = [0x16, 0x50, 0x0d];
const [LOCAL, PROXIED] = [0x20, 0x21];
const [TCP_4, TCP_6] = [0x11, 0x21];

/**
 * Lets trusted proxies say in front of the handshake where the client is. The header of any other client is refused: it is
 * no handshake. D-204.
 */
export function expectProxyHeaders(server: Server, isTrusted: (socket: Socket) => boolean): void {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  const startHandshake = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    if (isTrusted(socket)) readProxyHeader(socket, () => startHandshake(socket));
    else startHandshake(socket);
  });
  server.on('secureConnection', (socket) => {
    // Only `_parent` shows the TCP socket below.
    const { _parent: tcp } = socket as TLSSocket & { _parent: Socket };
    Object.defineProperty(socket, 'remoteAddress', { value: tcp.remoteAddress });
  });
}

export interface ProxyHeader {
  /** 0 = there is none: the proxy passes the client's bytes only. */
  bytes: number;
  /** The client's; null = the header names none. */
  address: string | null;
}

/** Calls `done` when the socket has the client's address. Closes it when the header is malformed, too long or late. */
function readProxyHeader(socket: Socket, done: () => void): void {
  let bytes = Buffer.alloc(0);
  const finish = () => {
    clearTimeout(timer);
    socket.off('readable', read).off('end', refuse);
  };
  const refuse = () => {
    finish();
    socket.destroy();
  };
  const read = () => {
    for (let part = socket.read(); part !== null; part = socket.read()) bytes = Buffer.concat([bytes, part]);
    if (bytes.length === 0) return;
    const header = parseProxyHeader(bytes);
    if (header === 'incomplete') return;
    if (header === 'malformed') return refuse();
    finish();
    const { address } = header;
    if (address !== null) Object.defineProperty(socket, 'remoteAddress', { value: address });
    if (bytes.length > header.bytes) socket.unshift(bytes.subarray(header.bytes));
    done();
  };
  const timer = setTimeout(refuse, HEADER_MS);
  socket.on('error', () => {});
  socket.on('readable', read).on('end', refuse);
}

/** Versions 1 and 2: https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt */
export function parseProxyHeader(bytes: Buffer): ProxyHeader | 'incomplete' | 'malformed' {
  if (bytes[0] === HANDSHAKE) return { bytes: 0, address: null };
  if (bytes[0] === VERSION_1) return parseVersion1(bytes);
  return bytes[0] === VERSION_2 ? parseVersion2(bytes) : 'malformed';
}

function parseVersion1(bytes: Buffer): ReturnType<typeof parseProxyHeader> {
  const end = bytes.subarray(0, MOST_BYTES_OF_LINE).indexOf('\r\n') + 2;
  if (end < 2) return bytes.length < MOST_BYTES_OF_LINE ? 'incomplete' : 'malformed';
  const found = LINE.exec(bytes.toString('latin1', 0, end));
  if (!found) return 'malformed';
  const [, family, address = null] = found;
  if (address === null) return { bytes: end, address };
  return (family === '4' ? isIPv4 : isIPv6)(address) ? { bytes: end, address } : 'malformed';
}

function parseVersion2(bytes: Buffer): ReturnType<typeof parseProxyHeader> {
  if (bytes.length < 16) return 'incomplete';
  if (!bytes.subarray(0, 12).equals(SIGNATURE)) return 'malformed';
  const [command, family] = [bytes[12], bytes[13]];
  const end = 16 + bytes.readUInt16BE(14);
  if (end > MOST_BYTES || (command !== LOCAL && command !== PROXIED)) return 'malformed';
  if (bytes.length < end) return 'incomplete';
  if (command === LOCAL || (family !== TCP_4 && family !== TCP_6)) return { bytes: end, address: null };
  if (end < (family === TCP_4 ? 28 : 52)) return 'malformed';
  const ofClient = bytes.subarray(16, family === TCP_4 ? 20 : 32);
  return { bytes: end, address: ipaddr.fromByteArray([...ofClient]).toString() };
}
