import { type IncomingMessage, request } from 'node:http';

/** A message of a stream of Server-Sent Events; a comment has no `data`. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string | null;
  /** The id of the stream after the message; null = it has none yet. */
  readonly id: string | null;
}

interface Asked {
  readonly token: string;
  readonly query: string;
  readonly variables: Record<string, unknown>;
  readonly lastEventId: string | null;
}

/** A connection to `/graphql` that asks for a stream. */
export class EventConnection {
  private constructor(private readonly response: IncomingMessage) {}

  /** Resolves with the head of the answer. Rejects when there is none. */
  static open(url: string, { token, query, variables, lastEventId }: Asked): Promise<EventConnection> {
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      'content-type': 'application/json',
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    };
    return new Promise((resolve, reject) => {
      const sent = request(`${url}/graphql`, { method: 'POST', headers, agent: false });
      sent.once('response', (response) => resolve(new EventConnection(response)));
      sent.once('error', reject).end(JSON.stringify({ query, variables }));
    });
  }

  get isStream(): boolean {
    const type = this.response.headers['content-type'] ?? '';
    return this.response.statusCode === 200 && type.startsWith('text/event-stream');
  }

  /** The whole body of an answer that is no stream. */
  async text(): Promise<string> {
    let text = '';
    for await (const chunk of this.response.setEncoding('utf8')) text += chunk;
    return text;
  }

  /** The complete messages, until the connection ends or breaks. */
  async *events(): AsyncGenerator<ServerEvent> {
    let unread = '';
    let id: string | null = null;
    try {
      for await (const chunk of this.response.setEncoding('utf8')) {
        const messages = (unread + chunk).split('\n\n');
        unread = messages.pop() ?? '';
        for (const message of messages) {
          const read = messageIn(message);
          id = read.id ?? id;
          yield { ...read, id };
        }
      }
    } catch (error) {
      if (!this.response.destroyed) throw error;
    }
  }

  pause(): void {
    this.response.socket.pause();
  }

  resume(): void {
    this.response.socket.resume();
  }

  cut(): void {
    this.response.destroy();
  }
}

function messageIn(text: string): ServerEvent {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    const before = fields.get(name);
    fields.set(name, name === 'data' && before !== undefined ? `${before}\n${value}` : value);
  }
  return {
    event: fields.get('event') ?? 'message',
    data: fields.get('data') ?? null,
    id: fields.get('id') ?? null,
  };
}
