import type { StreamJob } from './flood-job.js';
import { requestsOf } from './load-job.js';
import { type RawAnswer, RawConnection } from './raw-connection.js';

/** What became of a request. */
export interface Outcome {
  dueAtMs: number;
  /** Later than `dueAtMs` if no connection was free. */
  sentAtMs: number;
  endedAtMs: number;
  /** 0 = no answer. */
  status: number;
  /** Whether the client has waited as its last answer said. */
  hasObeyed: boolean;
}

interface Client {
  connection: RawConnection;
  dueAtMs: number;
  sentAtMs: number;
  mayAskAtMs: number;
  hasObeyed: boolean;
  hasEnded: boolean;
}

/** How long a request waits for a free connection. */
const PATIENCE_MS = 1_000;
const RECONNECT_MS = 100;

/** Sends requests at an even pace, however slow the answers are. */
export class FloodStream {
  /** The connection that was free for the longest time is first, so that most clients can wait as they are told. */
  private free: Client[] = [];
  private readonly clients = new Set<Client>();
  private waitingSinceMs: number[] = [];
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

  /** Call it every millisecond. */
  sendDue(nowMs: number): void {
    if (this.beganAtMs === 0) this.beganAtMs = nowMs;
    const { requestsPerSecond } = this.job;
    for (let dueAtMs = this.dueAtMs; dueAtMs <= nowMs; dueAtMs = this.dueAtMs) {
      this.due += 1;
      this.waitingSinceMs.push(dueAtMs);
    }
    const patient = this.waitingSinceMs.filter((dueAtMs) => dueAtMs > nowMs - PATIENCE_MS);
    for (const dueAtMs of this.waitingSinceMs.slice(0, this.waitingSinceMs.length - patient.length))
      this.onOutcome({ dueAtMs, sentAtMs: nowMs, endedAtMs: nowMs, status: 0, hasObeyed: true });
    const sent = Math.min(patient.length, this.free.length, Math.ceil(requestsPerSecond));
    for (const [at, client] of this.free.splice(0, sent).entries()) {
      this.send(client, patient[at] as number, nowMs);
    }
    this.waitingSinceMs = patient.slice(sent);
  }

  stop(): void {
    this.isStopped = true;
    for (const { connection } of this.clients) connection.destroy();
  }

  private get dueAtMs(): number {
    return this.beganAtMs + (this.due * 1000) / this.job.requestsPerSecond;
  }

  private connect(): void {
    const connection = new RawConnection(
      this.port,
      (answer) => this.end(client, answer),
      () => {
        client.hasEnded = true;
        this.clients.delete(client);
        this.free = this.free.filter((other) => other !== client);
        if (!this.isStopped) setTimeout(() => this.connect(), RECONNECT_MS);
      },
    );
    const client: Client = {
      connection,
      dueAtMs: 0,
      sentAtMs: 0,
      mayAskAtMs: 0,
      hasObeyed: true,
      hasEnded: false,
    };
    this.clients.add(client);
    this.free.push(client);
  }

  private send(client: Client, dueAtMs: number, nowMs: number): void {
    client.dueAtMs = dueAtMs;
    client.sentAtMs = nowMs;
    client.hasObeyed = client.mayAskAtMs <= nowMs;
    client.connection.send(bytesOf(this.job, this.port));
  }

  private end(client: Client, { status, retryAfterSeconds }: RawAnswer): void {
    if (this.isStopped) return;
    const endedAtMs = performance.now();
    client.mayAskAtMs = endedAtMs + 1000 * (retryAfterSeconds ?? 0);
    const { dueAtMs, sentAtMs, hasObeyed } = client;
    this.onOutcome({ dueAtMs, sentAtMs, endedAtMs, status, hasObeyed });
    if (!client.hasEnded) this.free.push(client);
  }
}

function bytesOf({ request }: StreamJob, port: number): string {
  const [plain] = requestsOf(request, 1);
  const headers = Object.entries({ ...request.headers, 'content-length': String(plain?.body?.length ?? 0) });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${plain?.method} ${plain?.path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}\r\n${plain?.body ?? ''}`;
}
