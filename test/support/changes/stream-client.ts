import { eventually } from '../eventually.js';

/** An event of a stream, as it was sent. */
interface StreamEvent {
  event: string;
  id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: results have many shapes; a wrong access fails the test.
  data: any;
}

export interface OpenedStream {
  status: number;
  headers: Headers;
  events: StreamEvent[];
  /** Everything that was received. */
  text(): string;
  /** The server has ended the stream. */
  hasEnded(): boolean;
  /** Resolves once at least as many events have come. */
  received(count: number): Promise<StreamEvent[]>;
  close(): void;
}

interface StreamRequest {
  token: string;
  query: string;
  variables?: Record<string, unknown>;
  headers?: Record<string, string>;
  method?: 'GET' | 'POST';
}

export const FOLLOW =
  'subscription($after: String, $status: ToyStatus) { toyChanges(after: $after, status: $status) { cursor kind at toy { id name categoryId status createdAt } } }';

/** Opens a stream of Server-Sent Events; resolves with the head of its answer. */
export async function openStream(
  url: string,
  { token, query, variables = {}, headers = {}, method = 'POST' }: StreamRequest,
): Promise<OpenedStream> {
  const control = new AbortController();
  const asked = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  const response = await fetch(method === 'GET' ? `${url}/graphql?${asked}` : `${url}/graphql`, {
    method,
    signal: control.signal,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    ...(method === 'POST' ? { body: JSON.stringify({ query, variables }) } : {}),
  });
  let text = '';
  let isEnded = false;
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  };
  // A closed stream rejects.
  const end = () => {
    isEnded = true;
  };
  read().then(end, end);
  return {
    status: response.status,
    headers: response.headers,
    get events() {
      return eventsIn(text);
    },
    text: () => text,
    hasEnded: () => isEnded,
    async received(count) {
      await eventually(`${count} events in ${text}`, () => eventsIn(text).length >= count || isEnded);
      return eventsIn(text);
    },
    close: () => control.abort(),
  };
}

/** WHATWG HTML §9.2.6: a block without data makes no event. */
function eventsIn(text: string): StreamEvent[] {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks.flatMap((block) => {
    const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    const data = fields.get('data');
    const event = fields.get('event') ?? 'message';
    if (data === undefined) return [];
    return [{ event, id: fields.get('id') ?? null, data: data === '' ? null : JSON.parse(data) }];
  });
}
