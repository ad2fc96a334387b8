import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket as TcpSocket } from 'node:net';
import packet from 'dns-packet';
import { type DnsFault, messageFor } from './dns-faults.js';
import { DnsZones, type DoubleType } from './dns-zones.js';

/** Selects questions, for a fault or in the log; an omitted field matches all. */
interface Which {
  name?: string;
  type?: DoubleType;
}

interface LoggedQuery {
  name: string;
  type: string;
  protocol: 'udp' | 'tcp';
  recursionDesired: boolean;
  checkingDisabled: boolean;
}

export interface DnsServerDouble {
  readonly address: string;
  readonly port: number;
  /** `127.0.0.1:5301`, for `DNS_SERVERS` and Pebble's `-dnsserver`. */
  readonly hostPort: string;
  readonly zone: DnsZones['zone'];
  readonly set: DnsZones['set'];
  readonly remove: DnsZones['remove'];
  /** All received questions, oldest first. */
  readonly log: LoggedQuery[];
  /** Adds a fault; the newest one that matches a question applies. Without `which` it applies to all questions. */
  fault(fault: DnsFault, which?: Which): void;
  /** Removes all faults. */
  heal(): void;
  stop(): Promise<void>;
}

/**
 * Starts a DNS server in this process, over real UDP and TCP. To questions with RD=1 it is a resolver that knows all its
 * records and follows CNAMEs. To questions with RD=0 it is the name server of its zones.
 *
 * `startDnsServer()` alone is enough when a test only needs answers:
 *
 *     const dns = await startDnsServer();                 // a free port of 127.0.0.1
 *     dns.zone('customer.test');                          // SOA; without a zone there are no apexes
 *     dns.set('petstore.test', 'A', '127.0.0.1');
 *     dns.set('shop.customer.test', 'CNAME', 'petstore.test', 300);   // TTL in seconds
 *     dns.set('customer.test', 'CAA', '0 issue "ca.test"');
 *     dns.set('*.customer.test', 'TXT', ['one', 'two']);
 *     start({ DNS_SERVERS: dns.hostPort });
 *     dns.fault('servfail', { name: 'shop.customer.test', type: 'A' });
 *     dns.heal();
 *     dns.remove('shop.customer.test');
 *     expect(dns.log).toContainEqual(expect.objectContaining({ name: 'shop.customer.test', type: 'CNAME' }));
 *     await dns.stop();
 *
 * `ns1` is a name server whose records differ from the resolver's cache; it uses the same port:
 *
 *     const ns1 = await startDnsServer({ address: '127.0.0.2', port: dns.port });
 *     dns.zone('customer.test', { 'ns1.customer.test': ns1.address });
 *     ns1.zone('customer.test', { 'ns1.customer.test': ns1.address });
 *     start({ DNS_SERVERS: dns.hostPort, DNS_NAME_SERVER_PORT: `${dns.port}`, DNS_PRIVATE_NAME_SERVERS: '1' });
 */
export async function startDnsServer({ address = '127.0.0.1', port = 0 } = {}): Promise<DnsServerDouble> {
  const zones = new DnsZones();
  const log: LoggedQuery[] = [];
  const faults: { fault: DnsFault; which: Which }[] = [];

  const respond = (bytes: Buffer, protocol: 'udp' | TcpSocket, send: (message: Buffer) => void): void => {
    const query = packet.decode(bytes);
    const question = query.questions?.[0];
    if (!question) return;
    const { type } = question;
    const name = question.name.toLowerCase();
    const isUdp = protocol === 'udp';
    log.push({
      name,
      type,
      protocol: isUdp ? 'udp' : 'tcp',
      recursionDesired: query.flag_rd,
      checkingDisabled: query.flag_cd,
    });
    const active = faults.findLast(
      ({ which }) => (which.name ?? name) === name && (which.type ?? type) === type,
    )?.fault;
    if (typeof active === 'object' && 'dropFirst' in active && active.dropFirst > 0) {
      active.dropFirst -= 1;
      return;
    }
    if (active === 'drop') return;
    const isHealed = typeof active === 'object' && 'failFirst' in active && active.failFirst-- <= 0;
    const isHostile = typeof active === 'object' && 'hostile' in active;
    if (isHostile && !isUdp) {
      active.hostile(bytes, protocol);
      return;
    }
    const said = zones.answer(name, type, query.flag_rd);
    const fault = isHostile ? 'truncate' : isHealed ? undefined : active;
    const message = messageFor({ query, said, fault, protocol: isUdp ? 'udp' : 'tcp' });
    const isLate = typeof active === 'object' && 'delayMs' in active;
    if (isLate && !(active.isQuickUnchecked && query.flag_cd)) {
      setTimeout(send, active.delayMs, message).unref();
    } else send(message);
  };

  let isStopped = false;
  const { udp, tcp } = await listen(address, port);
  udp.on('message', (bytes: Buffer, { port: to, address: peer }: RemoteInfo) =>
    respond(bytes, 'udp', (message) => isStopped || udp.send(message, to, peer, () => {})),
  );
  const connections = new Set<TcpSocket>();
  tcp.on('connection', (socket) => {
    connections.add(socket.on('error', () => socket.destroy()).on('close', () => connections.delete(socket)));
    let received = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      while (received.length > 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const whole = 2 + received.readUInt16BE(0);
        respond(
          received.subarray(2, whole),
          socket,
          (message) => socket.writable && socket.write(framed(message)),
        );
        received = received.subarray(whole);
      }
    });
  });

  const bound = udp.address().port;
  return {
    address,
    port: bound,
    hostPort: `${address}:${bound}`,
    zone: zones.zone.bind(zones),
    set: zones.set.bind(zones),
    remove: zones.remove.bind(zones),
    log,
    fault: (fault, which = {}) => void faults.push({ fault, which }),
    heal: () => void faults.splice(0),
    async stop() {
      isStopped = true;
      for (const socket of connections) socket.destroy();
      const ends = [once(tcp.close(), 'close'), once(udp, 'close')];
      udp.close();
      await Promise.all(ends);
    },
  };
}

/** A message with its length before it, as TCP carries it. */
export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Listens on UDP and TCP at one port; a free port may be free for one of them only. */
async function listen(address: string, port: number): Promise<{ udp: Socket; tcp: Server }> {
  for (let tries = 1; ; tries += 1) {
    const tcp = createServer();
    await once(tcp.listen(port, address), 'listening');
    const udp = createSocket('udp4');
    try {
      udp.bind((tcp.address() as AddressInfo).port, address);
      await once(udp, 'listening');
      return { udp, tcp };
    } catch (error) {
      tcp.close();
      if (port !== 0 || tries === 10) throw error;
    }
  }
}
