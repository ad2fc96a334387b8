import { Agent, request as open } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type PlainRequest, type RequestTemplate, requestsOf } from './load-job.js';

/** Answers and failures of a period. */
export interface Seen {
  /** Of answers with 2xx. */
  latenciesMs: number[];
  /** Answers by status, and requests without an answer by error code. */
  failures: Map<string, number>;
  badClients: number;
}

const CONNECTIONS = 64;
/** Every hundredth request comes from a client that misbehaves. */
const BAD_CLIENT_EVERY = 100;
const SLOW_BYTE_MS = 100;
const SLOW_BYTES = 20;

/** Sends a mix of requests at an even pace, and does not wait for earlier answers. */
export class SoakLoad {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  private seen = nothing();
  private inFlight = 0;
  private isStopping = false;
  private readonly running: Promise<void>;

  /** `mix`: each request is drawn from it at random. */
  constructor(
    private readonly origin: string,
    private readonly mix: readonly RequestTemplate[],
    private readonly perSecond: number,
  ) {
    this.running = this.run();
  }

  /** The answers and failures since the last call. */
  takeSeen(): Seen {
    const seen = this.seen;
    this.seen = nothing();
    return seen;
  }

  /** Resolves when every request is answered or lost, and all connections are closed. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.running;
    while (this.inFlight > 0) await pause(50);
    this.agent.destroy();
  }

  private async run(): Promise<void> {
    const startedAt = performance.now();
    let sent = 0;
    while (!this.isStopping) {
      const due = ((performance.now() - startedAt) / 1000) * this.perSecond;
      for (; sent < due; sent += 1) this.send(sent);
      await pause(2);
    }
  }

  private send(nth: number): void {
    const template = this.mix[Math.floor(Math.random() * this.mix.length)] as RequestTemplate;
    const [request] = requestsOf(template, 1);
    if (!request) return;
    if (nth % BAD_CLIENT_EVERY === 0) void this.misbehave(request, nth / BAD_CLIENT_EVERY);
    else this.ask(request);
  }

  private ask({ method, path, headers, body }: PlainRequest): void {
    const sentAt = performance.now();
    const fail = (reason: string) => {
      this.inFlight -= 1;
      this.seen.failures.set(reason, (this.seen.failures.get(reason) ?? 0) + 1);
    };
    this.inFlight += 1;
    const sent = open(`${this.origin}${path}`, { method, headers, agent: this.agent }, (response) => {
      const status = Number(response.statusCode);
      response.once('end', () => {
        if (status >= 300) return fail(String(status));
        this.inFlight -= 1;
        this.seen.latenciesMs.push(performance.now() - sentAt);
      });
      response.once('error', () => fail('lost'));
      response.resume();
    });
    sent.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? 'lost'));
    sent.end(body);
  }

  /** In turns: a connection that is cut during the answer, half a request that is cut, a client that sends slowly. */
  private async misbehave({ method, path, headers, body = '' }: PlainRequest, nth: number): Promise<void> {
    this.seen.badClients += 1;
    const { hostname, port } = new URL(this.origin);
    const socket = connect(Number(port), hostname).on('error', () => {});
    const fields = { host: hostname, ...headers, 'content-length': String(Buffer.byteLength(body)) };
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
    const text = `${method} ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`;
    const kind = ['cut answer', 'cut request', 'slow'][nth % 3];
    if (kind === 'cut answer') {
      socket.write(text);
      socket.once('data', () => socket.destroy());
      await pause(1_000);
    } else if (kind === 'cut request') {
      socket.write(text.slice(0, text.length / 2));
      await pause(100);
    } else {
      socket.write(text.slice(0, -SLOW_BYTES));
      for (const byte of text.slice(-SLOW_BYTES)) {
        await pause(SLOW_BYTE_MS);
        socket.write(byte);
      }
      await pause(1_000);
    }
    socket.destroy();
  }
}

function nothing(): Seen {
  return { latenciesMs: [], failures: new Map(), badClients: 0 };
}
