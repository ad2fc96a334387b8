import type { StreamJob } from './flood-job.js';
import { requestsOf } from './load-job.js';
import { type RawAnswer, RawConnection } from './raw-connection.js';

/** The outcome of a request. */
export interface Outcome {
  sentAtMs: number;
  endedAtMs: number;
  /** 0 = no answer. */
  status: number;
  /** Whether the client has waited as its last answer said. */
  hasObeyed: boolean;
}

interface Client {
  connection: RawConnection;
  sentAtMs: number;
  mayAskAtMs: number;
  hasObeyed: boolean;
}

const RECONNECT_MS = 100;

/** Sends requests at an even pace, however slow the answers are. */
export class FloodStream {
  /** In the order in which they became free. The first has had the most time to obey its Retry-After. */
  private readonly free: Client[] = [];
  private readonly clients = new Set<Client>();
  private beganAtMs = 0;
  private due = 0;
  private isStopped = false;

  constructor(
    private readonly port: number,
    private readonly job: StreamJob,
    private readonly onOutcome: (outcome: Outcome) => void,
  ) {
    for (let made = 0; made < job.connections; made += 1) this.connect();
  }

  /** Resolves when all connections are open. */
  async open(): Promise<void> {
    await Promise.all([...this.clients].map(({ connection }) => connection.opened));
  }

  /** Sends what is due. Returns the number of requests that found no free connection, and are lost. Call it every millisecond. */
  sendDue(nowMs: number): number {
    if (this.beganAtMs === 0) this.beganAtMs = nowMs;
    const due = Math.floor(((nowMs - this.beganAtMs) / 1000) * this.job.requestsPerSecond);
    const wanted = due - this.due;
    this.due = due;
    const sending = this.free.splice(0, wanted);
    for (const client of sending) this.send(client);
    return wanted - sending.length;
  }

  stop(): void {
    this.isStopped = true;
    for (const { connection } of this.clients) connection.destroy();
  }

  private connect(): void {
    const connection = new RawConnection(
      this.port,
      (answer) => this.end(client, answer),
      () => {
        this.clients.delete(client);
        const at = this.free.indexOf(client);
        if (at >= 0) this.free.splice(at, 1);
        if (!this.isStopped) setTimeout(() => this.connect(), RECONNECT_MS);
      },
    );
    const client: Client = { connection, sentAtMs: 0, mayAskAtMs: 0, hasObeyed: true };
    this.clients.add(client);
    this.free.push(client);
  }

  private send(client: Client): void {
    client.sentAtMs = performance.now();
    client.hasObeyed = client.mayAskAtMs <= client.sentAtMs;
    client.connection.send(bytesOf(this.job, this.port));
  }

  private end(client: Client, { status, retryAfterSeconds }: RawAnswer): void {
    if (this.isStopped) return;
    const endedAtMs = performance.now();
    client.mayAskAtMs = endedAtMs + 1000 * (retryAfterSeconds ?? 0);
    const { sentAtMs, hasObeyed } = client;
    this.onOutcome({ sentAtMs, endedAtMs, status, hasObeyed });
    if (status !== 0) this.free.push(client);
  }
}

function bytesOf({ request }: StreamJob, port: number): string {
  const [plain] = requestsOf(request, 1);
  // Without a body a client names no length, and the gateway has less to check.
  const length = plain?.body === undefined ? {} : { 'content-length': String(plain.body.length) };
  const lines = Object.entries({ ...request.headers, ...length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${plain?.method} ${plain?.path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}\r\n${plain?.body ?? ''}`;
}
