import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Times of `performance.now()`. */
  sentAt: number;
  answeredAt: number;
}

/** The reason for a missing answer. On a `reused` connection the client cannot know whether the request arrived. */
export class NoAnswer extends Error {
  constructor(
    cause: NodeJS.ErrnoException,
    readonly reused: boolean,
  ) {
    super(`${cause.code ?? cause.message} on a ${reused ? 'reused' : 'new'} connection`, { cause });
  }
}

interface Init {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

/** A client with one connection, kept alive until the server closes it. It has no timeout and does not retry. */
export class KeepAliveClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  /** Rejects with `NoAnswer`. */
  async send(path: string, { method = 'GET', headers = {}, body }: Init = {}): Promise<Answered> {
    const sentAt = performance.now();
    const sent = request(`${this.url}${path}`, {
      agent: this.agent,
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    try {
      const arrived = new Promise<IncomingMessage>((resolve, reject) => {
        sent.once('response', resolve).on('error', reject);
      });
      sent.end(body === undefined ? undefined : JSON.stringify(body));
      const response = await arrived;
      return {
        status: Number(response.statusCode),
        headers: response.headers,
        text: await text(response),
        sentAt,
        answeredAt: performance.now(),
      };
    } catch (error) {
      throw new NoAnswer(error as NodeJS.ErrnoException, sent.reusedSocket);
    }
  }

  close(): void {
    this.agent.destroy();
  }
}
