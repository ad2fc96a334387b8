import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type AcmeFault, startAcmeProxy } from '../domains/acme-proxy.js';
import type { Pebble } from '../servers/pebble.js';

/**
 * A process with a certificate authority that is hostile to `shop.<kind>-<n>.test` and forwards everything else to Pebble.
 * It is apart from the test's process, which measures the time of the gateway's answers. Its first message is Pebble's port
 * and TLS; it answers with the URL of its directory.
 */
export type Behaviour = 'hostile' | 'good';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
/** Below the bound of the gateway. */
const BODY_BYTES = 90_000;
const AUTHORIZATIONS = 100;
const SOON = { 'retry-after': '1' };

/** Writes the piece for as long as the connection is open, as soon as the piece before and a pause are over. */
function endless(head: string, piece: string, pauseMs: number): AcmeFault {
  const say = (connection: Socket) => {
    connection.on('error', () => {});
    connection.setNoDelay(true).write(head);
    const next = () => {
      if (!connection.destroyed) connection.write(piece, () => setTimeout(next, pauseMs));
    };
    next();
  };
  return { kind: 'say', say };
}

const last = (text: string): AcmeFault => ({ kind: 'say', say: (connection) => connection.end(text) });
const json = (document: object, headers: Record<string, string> = {}): AcmeFault =>
  text(JSON.stringify(document), headers);
const text = (body: string, headers: Record<string, string> = {}, status = 200): AcmeFault => ({
  kind: 'answer',
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body,
});
const problem = (type: string, headers: Record<string, string> = {}): AcmeFault =>
  text(
    JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail: 'x'.repeat(BODY_BYTES) }),
    { 'content-type': 'application/problem+json', ...headers },
    400,
  );

/** The resource and the answer there, by the kind in the name of the host. */
function faults(base: string): Record<string, [resource: string, fault: AcmeFault][]> {
  // The gateway polls this order until its deadline.
  const order = { status: 'processing', finalize: base, authorizations: [] as string[] };
  const nested = '['.repeat(BODY_BYTES / 2) + ']'.repeat(BODY_BYTES / 2);
  const pieces = [...JSON.stringify(order).padEnd(BODY_BYTES)].map((one) => `1\r\n${one}\r\n`).join('');
  const authorizations = Array.from({ length: AUTHORIZATIONS }, (_, index) => `${base}many-${index}`);
  const challenge = { type: 'http-01', url: `${base}dir`, status: 'processing', token: 'x' };
  return {
    silent: [['newOrder', { kind: 'hang' }]],
    drips: [['newOrder', endless(`${HEAD}content-length: 1000\r\n\r\n`, ' ', 1_000)]],
    dripshead: [['authz', endless('HTTP/1.1 200 OK\r\nx: ', 'x', 1_000)]],
    crumbles: [['newOrder', endless(`${HEAD}content-length: 90000\r\n\r\n`, ' ', 1)]],
    announces: [['authz', endless('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(600), 0)]],
    nests: [['order', text(JSON.stringify({ ...order, x: 0 }).replace('0', nested), SOON)]],
    arrays: [['order', json({ ...order, x: Array(22_000).fill([0]) }, SOON)]],
    pieces: [['order', last(`${HEAD}transfer-encoding: chunked\r\n\r\n${pieces}0\r\n\r\n`)]],
    authorizes: [
      ['newOrder', json({ ...order, status: 'pending', authorizations }, { location: `${base}many-0` })],
      ['many', json({ ...order, status: 'pending', challenges: [challenge], x: Array(22_000).fill([0]) })],
    ],
    floods: [['order', endless(`${HEAD}\r\n`, 'x'.repeat(64_000), 0)]],
    floodshead: [['newOrder', endless('HTTP/1.1 200 OK\r\n', `x: ${'y'.repeat(1_000)}\r\n`, 0)]],
    halfcloses: [['newOrder', last(`${HEAD}content-length: 9\r\n\r\n{`)]],
    wrongnonces: [['newOrder', problem('badNonce', { 'replay-nonce': 'x'.repeat(8_000) })]],
    neverready: [['finalize', problem('orderNotReady')]],
    redirects: [['order', text('', { location: '/dir' }, 307)]],
    switches: [
      ['order', last('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')],
    ],
    chains: [['certificate', text('-----BEGIN CERTIFICATE-----\nA'.repeat(2_000))]],
    hugechain: [['certificate', text('A'.repeat(5_000_000))]],
  };
}

const [pebble] = (await once(process, 'message')) as [Pebble];
const proxy = await startAcmeProxy(pebble);
const all = Object.entries(faults(new URL('/', proxy.directoryUrl).href));
let ends: (() => void)[] = [];
process.on('message', (behaviour: Behaviour) => {
  for (const end of ends.splice(0)) end();
  if (behaviour === 'good') return;
  ends = all.flatMap(([kind, at]) =>
    at.map(([resource, fault]) =>
      proxy.inject(
        (call) =>
          (call.resource === resource && call.hostname?.split(/[.-]/)[1] === kind) ||
          (resource === 'many' && call.path.startsWith('/many-')),
        fault,
      ),
    ),
  );
});
process.on('disconnect', () => process.exit());
process.send?.(proxy.directoryUrl);
