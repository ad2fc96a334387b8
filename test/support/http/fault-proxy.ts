import { once } from 'node:events';
import { createServer, createConnection as dial, type Server, type Socket } from 'node:net';

/**
 * The behaviour of the network between a client and a server.
 * `pass`: delivers everything.
 * `refuse`: nothing listens, and open connections are reset.
 * `reset`: every connection is accepted, then reset.
 * `black hole`: nothing arrives, in either direction, on old and new connections, until the network is back.
 * `deaf`: requests arrive and are executed, their answers are lost for ever, on old and new connections.
 * `lost commit`: as `deaf`, for each connection from its next COMMIT on.
 * `half-open`: the server has forgotten the connections that are open now; new ones work.
 */
export type Fault = 'pass' | 'refuse' | 'reset' | 'black hole' | 'deaf' | 'lost commit' | 'half-open';

export interface FaultProxy {
  port: number;
  set(fault: Fault): Promise<void>;
  stop(): Promise<void>;
}

interface Pair {
  client: Socket;
  server: Socket;
  requestsAreLost: boolean;
  answersAreLost: boolean;
}

/** Starts a TCP proxy in front of a port of this machine. */
export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  let fault: Fault = 'pass';
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (fault === 'reset') {
      client.resetAndDestroy();
      return;
    }
    const pair = connect(client, targetPort);
    pairs.add(pair);
    client.once('close', () => pairs.delete(pair));
    client.on('data', (bytes) => {
      if (fault === 'lost commit' && bytes.includes('COMMIT')) apply(pair, 'deaf');
    });
    apply(pair, fault === 'half-open' ? 'pass' : fault);
  });
  await listen(listener, 0);
  const { port } = listener.address() as { port: number };
  const resetAll = () => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  };
  return {
    port,
    async set(next) {
      fault = next;
      if (next === 'refuse') listener.close();
      else if (!listener.listening) await listen(listener, port);
      if (next === 'refuse' || next === 'reset') resetAll();
      else for (const pair of pairs) apply(pair, next);
    },
    async stop() {
      resetAll();
      if (listener.listening) await once(listener.close(), 'close');
    },
  };
}

function connect(client: Socket, targetPort: number): Pair {
  const server = dial({ host: '127.0.0.1', port: targetPort, allowHalfOpen: true });
  const end = () => {
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) socket.setNoDelay().once('close', end).on('error', end);
  return { client, server, requestsAreLost: false, answersAreLost: false };
}

/** A connection that lost bytes stays broken when the network is back; a paused connection continues. */
function apply(pair: Pair, fault: Fault): void {
  const { client, server } = pair;
  if (fault === 'black hole') {
    client.unpipe(server).pause();
    server.unpipe(client).pause();
  } else {
    if (fault === 'deaf' || fault === 'half-open') pair.answersAreLost = true;
    if (fault === 'half-open') pair.requestsAreLost = true;
    carry(client, server, pair.requestsAreLost);
    carry(server, client, pair.answersAreLost);
  }
}

function carry(from: Socket, to: Socket, isLost: boolean): void {
  // Piped a second time, each byte would arrive twice.
  from.unpipe(to);
  if (isLost) from.resume();
  else from.pipe(to);
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}
