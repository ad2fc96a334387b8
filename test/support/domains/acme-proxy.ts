import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { Socket } from 'node:net';
import { freePort } from '../servers/daemon.js';
import type { Pebble } from '../servers/pebble.js';

/** A proxy in front of Pebble that counts requests and injects the faults of real CAs. */
export interface AcmeProxy {
  directoryUrl: string;
  /** Every request, oldest first. */
  calls: AcmeCall[];
  /** The number of orders that Pebble accepted for the host, without requests refused because of their nonce. */
  newOrders(hostname: string): number;
  /** Applies the fault to matching requests until the returned function is called. */
  inject(matches: (call: AcmeCall) => boolean, fault: AcmeFault): () => void;
  /** Closes the port. */
  leave(): Promise<void>;
  /** Opens the same port. */
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

interface AcmeCall {
  method: string;
  path: string;
  /** Payload of the JWS; null = none. */
  payload: Record<string, unknown> | null;
  /** The host of the order, authorization or challenge; null = unknown. */
  hostname: string | null;
  /** `newOrder`, `order`, `authz`, `challenge`, `finalize`, `certificate`, or else the first part of the path. */
  resource: string;
  /** The status that Pebble answered; null = Pebble was not asked, or has not answered yet. */
  status: number | null;
}

export type AcmeFault =
  | { kind: 'reset' }
  /** Reads the request and never answers. */
  | { kind: 'hang' }
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body: string }
  /** Takes over the connection, for what is not an answer of HTTP. */
  | { kind: 'say'; say(connection: Socket): void }
  /** Handles the request and loses the answer. */
  | { kind: 'lose-answer' };

const CREATED = 201;
const KEEP_ALIVE_MS = 60_000;

interface ProxyOptions {
  /** Called before a validation; true = a CAA record forbids this CA. Pebble itself does not check CAA. */
  refusesByCaa?(hostname: string): boolean | Promise<boolean>;
}

/** Returns the answer of a CA whose rate limit is reached. */
export function rateLimited(retryAfterSeconds: number | null, detail = 'too many certificates'): AcmeFault {
  return {
    kind: 'answer',
    status: 429,
    headers: {
      'content-type': 'application/problem+json',
      ...(retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: JSON.stringify({ type: 'urn:ietf:params:acme:error:rateLimited', detail, status: 429 }),
  };
}

export async function startAcmeProxy(pebble: Pebble, options: ProxyOptions = {}): Promise<AcmeProxy> {
  const calls: AcmeCall[] = [];
  const faults = new Set<{ matches(call: AcmeCall): boolean; fault: AcmeFault }>();
  const known = new KnownUrls();
  const refusedByCaa = new Set<string>();
  // A new connection for each call: a kept-alive one that Pebble has closed would lose the call like a fault of the CA.
  const agent = new Agent({ ca: pebble.tls.caPem });

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const body = await textOf(incoming);
    const call = known.describe(incoming, body);
    calls.push(call);
    const fault = [...faults].find(({ matches }) => matches(call))?.fault;
    if (fault && fault.kind !== 'lose-answer') return misbehave(fault, outgoing);
    const { hostname } = call;
    if (call.resource === 'challenge' && call.payload && hostname) {
      if (await options.refusesByCaa?.(hostname)) refusedByCaa.add(hostname);
    }
    if (call.resource === 'newOrder' && hostname) refusedByCaa.delete(hostname);
    const answer = await forward(incoming, body, { port: pebble.port, agent });
    call.status = answer.status;
    known.learn(call, answer);
    // A call that Pebble refused, as it does with one nonce of twenty, is repeated and gets the fault then.
    if (fault && answer.status < 400) return misbehave({ kind: 'reset' }, outgoing);
    // Of a call that Pebble refused, as for its nonce, the client must see that reason.
    const isRefused = answer.status < 400 && hostname !== null && refusedByCaa.has(hostname);
    const text = isRefused ? withCaaRefusal(call, answer.body) : answer.body;
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...headers } = answer.headers;
    outgoing.writeHead(answer.status, { ...headers, 'content-length': Buffer.byteLength(text) });
    outgoing.end(incoming.method === 'HEAD' ? undefined : text);
  };

  const { certificatePem, keyPem } = pebble.tls;
  const server = createServer({ cert: certificatePem, key: keyPem }, (incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const leave = async () => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  // Longer than the client keeps an idle connection, as the servers of real CAs do.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // Not one of the system's own: while the port is closed, an outgoing connection could take it.
  const port = await freePort();
  await listen(port);

  return {
    directoryUrl: `https://127.0.0.1:${port}/dir`,
    calls,
    newOrders: (hostname) =>
      calls.filter(
        (call) => call.resource === 'newOrder' && call.hostname === hostname && call.status === CREATED,
      ).length,
    inject(matches, fault) {
      const entry = { matches, fault };
      faults.add(entry);
      return () => faults.delete(entry);
    },
    leave,
    comeBack: () => listen(port),
    async stop() {
      await leave();
      agent.destroy();
    },
  };
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Knows the host and the kind of resource of each URL, from the answers that named the URL. */
class KnownUrls {
  private readonly hosts = new Map<string, { hostname: string; resource: string }>();

  describe({ method = '', url: path = '' }: IncomingMessage, body: string): AcmeCall {
    const payload = payloadOf(body);
    const [identifier] = (payload?.identifiers ?? []) as { value: string }[];
    const { hostname = null, resource = resourceOf(path) } = this.hosts.get(path) ?? {};
    return { method, path, payload, hostname: identifier?.value ?? hostname, resource, status: null };
  }

  learn({ hostname, path, resource }: AcmeCall, { headers, body }: Answer): void {
    if (hostname === null) return;
    const document = parse(body);
    const note = (url: unknown, kind: string) => {
      if (typeof url === 'string') this.hosts.set(new URL(url).pathname, { hostname, resource: kind });
    };
    if (resource === 'newOrder') note(headers.location, 'order');
    for (const url of (document?.authorizations ?? []) as string[]) note(url, 'authz');
    for (const challenge of (document?.challenges ?? []) as { url: string }[])
      note(challenge.url, 'challenge');
    note(document?.finalize, 'finalize');
    note(document?.certificate, 'certificate');
    if (resource === 'order') note(`https://ca${path}`, 'order');
  }
}

const CAA_ERROR = {
  type: 'urn:ietf:params:acme:error:caa',
  detail: 'CAA record prevents issuance',
  status: 403,
};

function withCaaRefusal({ resource, hostname }: AcmeCall, body: string): string {
  const document = parse(body);
  if (!document || !['order', 'authz', 'challenge', 'finalize'].includes(resource)) return body;
  const error = { ...CAA_ERROR, detail: `CAA record for ${hostname} prevents issuance` };
  if (resource === 'challenge') return JSON.stringify({ ...document, status: 'invalid', error });
  if (resource !== 'authz') return JSON.stringify({ ...document, status: 'invalid' });
  const challenges = (document.challenges as { type: string }[]).map((challenge) =>
    challenge.type === 'http-01' ? { ...challenge, status: 'invalid', error } : challenge,
  );
  return JSON.stringify({ ...document, status: 'invalid', challenges });
}

function misbehave(fault: Exclude<AcmeFault, { kind: 'lose-answer' }>, outgoing: ServerResponse): void {
  if (fault.kind === 'hang') return;
  if (fault.kind === 'say') {
    const { socket } = outgoing;
    if (socket) fault.say(socket);
    return;
  }
  if (fault.kind === 'reset') {
    outgoing.socket?.resetAndDestroy();
    return;
  }
  outgoing.writeHead(fault.status, { 'content-type': 'text/html', ...fault.headers }).end(fault.body);
}

/** Keeps the Host header, so that Pebble builds URLs through the proxy, and signatures stay valid. */
function forward(
  { method, url, headers }: IncomingMessage,
  body: string,
  { port, agent }: { port: number; agent: Agent },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { connection: _, ...kept } = headers;
    const sent = request(
      { host: '127.0.0.1', port, method, path: url, headers: kept, agent },
      async (response) => {
        try {
          const text = await textOf(response);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        } catch (error) {
          reject(error);
        }
      },
    );
    sent.on('error', reject);
    sent.end(body || undefined);
  });
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function payloadOf(body: string): Record<string, unknown> | null {
  const { payload } = parse(body) ?? {};
  return typeof payload === 'string' ? parse(Buffer.from(payload, 'base64url').toString('utf8')) : null;
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Pebble's paths. */
function resourceOf(path: string): string {
  const names: Record<string, string> = {
    'order-plz': 'newOrder',
    'nonce-plz': 'newNonce',
    'sign-me-up': 'newAccount',
    'my-order': 'order',
    authZ: 'authz',
    chalZ: 'challenge',
    'finalize-order': 'finalize',
    certZ: 'certificate',
  };
  const [first = ''] = path.split('/').filter((part) => part !== '');
  return names[first] ?? first;
}
