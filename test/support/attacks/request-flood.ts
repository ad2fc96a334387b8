import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

interface FloodOptions {
  connections: number;
  /** The pause of a client after an answer, which leaves processor time for the test's own process. */
  betweenMs: number;
  /** Returns the path and the headers of each request; the index counts from 0. */
  ask: (index: number) => { path: string; headers?: Record<string, string> };
}

/** Clients that repeat their request `betweenMs` after each answer, each on its own connection, until `stop`. */
export class RequestFlood {
  /** Answers by status; `no answer` counts broken connections. */
  readonly answers = new Map<number | 'no answer', number>();
  private readonly agent: Agent;
  private readonly clients: Promise<void>[];
  private asked = 0;
  private isOver = false;

  constructor(
    private readonly url: string,
    private readonly options: FloodOptions,
  ) {
    const { connections } = options;
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.clients = Array.from({ length: connections }, () => this.askOn());
  }

  get answered(): number {
    return [...this.answers.values()].reduce((sum, count) => sum + count, 0);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    this.agent.destroy();
    await Promise.all(this.clients);
  }

  private async askOn(): Promise<void> {
    while (!this.isOver) {
      const status = await this.askOnce();
      if (!this.isOver) this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
      await pause(this.options.betweenMs);
    }
  }

  private askOnce(): Promise<number | 'no answer'> {
    const { path, headers = {} } = this.options.ask(this.asked);
    this.asked += 1;
    return new Promise((resolve) => {
      const sent = request(`${this.url}${path}`, { agent: this.agent, headers }, (response) => {
        response.on('error', () => resolve('no answer'));
        response.on('end', () => resolve(response.statusCode ?? 'no answer')).resume();
      });
      sent.on('error', () => resolve('no answer')).end();
    });
  }
}
