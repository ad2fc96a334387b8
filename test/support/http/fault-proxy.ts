import { once } from 'node:events';
import { createServer, createConnection as dial, type Server, type Socket } from 'node:net';
import { freePort } from '../servers/daemon.js';

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

/** Takes the bytes that arrive from one end of a connection in place of the other end, on old and new connections. */
export interface Distortion {
  ofRequest?(bytes: Buffer, ends: Ends): void;
  ofAnswer?(bytes: Buffer, ends: Ends): void;
}

/** The proxy's sockets of one connection. */
export interface Ends {
  readonly client: Socket;
  readonly server: Socket;
}

export interface FaultProxy {
  port: number;
  /** Open connections from clients. */
  readonly connections: number;
  set(fault: Fault | Distortion): Promise<void>;
  stop(): Promise<void>;
}

interface Pair extends Ends {
  requestsAreLost: boolean;
  answersAreLost: boolean;
  undistort?: () => void;
}

/** Starts a TCP proxy in front of a port of this machine. */
export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  let fault: Fault | Distortion = 'pass';
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
  // Not one of the system's own: while it refuses, a client that tries again and again would connect to itself.
  const port = await freePort();
  await listen(listener, port);
  const resetAll = () => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  };
  return {
    port,
    get connections() {
      return pairs.size;
    },
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
function apply(pair: Pair, fault: Fault | Distortion): void {
  const { client, server } = pair;
  pair.undistort?.();
  if (typeof fault === 'object') {
    pair.undistort = distort(pair, fault);
  } else if (fault === 'black hole') {
    client.unpipe(server).pause();
    server.unpipe(client).pause();
  } else {
    if (fault === 'deaf' || fault === 'half-open') pair.answersAreLost = true;
    if (fault === 'half-open') pair.requestsAreLost = true;
    carry(client, server, pair.requestsAreLost);
    carry(server, client, pair.answersAreLost);
  }
}

function distort(ends: Ends, { ofRequest, ofAnswer }: Distortion): () => void {
  const { client, server } = ends;
  const onRequest = (bytes: Buffer) => (ofRequest ? ofRequest(bytes, ends) : server.write(bytes));
  const onAnswer = (bytes: Buffer) => (ofAnswer ? ofAnswer(bytes, ends) : client.write(bytes));
  // An end is no byte. Without it, a client would send its next request to a server that is gone.
  const endRequests = () => server.end();
  const endAnswers = () => client.end();
  client.unpipe(server).on('data', onRequest).on('end', endRequests).resume();
  server.unpipe(client).on('data', onAnswer).on('end', endAnswers).resume();
  return () => {
    client.off('data', onRequest).off('end', endRequests);
    server.off('data', onAnswer).off('end', endAnswers);
    // The rest of a distorted answer must not become a part of the next one.
    if (ofAnswer) client.resetAndDestroy();
  };
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
