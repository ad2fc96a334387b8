/** A result as GraphQL answers it. */
export interface StreamedResult {
  data?: Record<string, unknown> | null;
  errors?: readonly { message: string; extensions?: Record<string, unknown> }[];
}

/** `away`: the connection is lost, and the next attempt is planned. */
export type StreamState = { kind: 'connecting' | 'live' } | { kind: 'away'; retryAtMs: number };

export interface StreamListener {
  state(state: StreamState): void;
  next(result: StreamedResult): void;
  /** The stream is over. `refusal`: why the gateway refused it, or ended it; null = it is complete. */
  end(refusal: StreamedResult | null): void;
}

export interface StreamRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: object;
  /** The head of each answer, whatever its status. */
  onHead?: (response: Response) => void;
}

/** An idle stream has a heartbeat every 15 s. */
const SILENCE_MS = 40_000;
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 60_000;
/** Something between here and the gateway passes no stream: each attempt costs a unit of the plan. */
const LONGEST_RETRY_IF_NEVER_LIVE_MS = 10 * 60_000;
/** A stream that ends earlier counts as a failure: it must not be opened over and over. */
const SOUND_MS = 30_000;

/**
 * Sends a subscription and tells its results, by the distinct connections mode of the GraphQL over SSE protocol. After a
 * lost connection it opens the stream again behind the last event, with exponential back-off. Returns a function that
 * closes the stream; after that the listener hears nothing.
 */
export function followStream(request: StreamRequest, listener: StreamListener): () => void {
  let isOver = false;
  let wasLive = false;
  let failures = 0;
  let lastEventId = '';
  let firstRetryMs = FIRST_RETRY_MS;
  let attempt = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const close = () => {
    isOver = true;
    clearTimeout(timer);
    attempt.abort();
  };
  const end = (refusal: StreamedResult | null) => {
    close();
    listener.end(refusal);
  };

  /** Resolves when the connection is lost, or could not be opened: with the milliseconds that the gateway asks to wait. */
  const read = async (onBytes: () => void): Promise<number> => {
    const response = await send(request, lastEventId, attempt.signal);
    if (isOver) return 0;
    request.onHead?.(response);
    const { status, headers, body } = response;
    if (!body || !headers.get('content-type')?.startsWith('text/event-stream')) {
      const retryAfterMs = Number(headers.get('retry-after') ?? 0) * 1000;
      // A gateway that restarts, or that still counts the lost stream, is asked again.
      if (status >= 500 || (status === 429 && wasLive)) return retryAfterMs;
      const unknown = { errors: [{ message: `HTTP ${status}` }] };
      const refusal = (await response.json().catch(() => unknown)) as StreamedResult;
      if (!isOver) end(refusal);
      return 0;
    }
    wasLive = true;
    listener.state({ kind: 'live' });
    let reason: StreamedResult | null = null;
    for await (const event of eventsOf(body, onBytes)) {
      if (isOver) return 0;
      lastEventId = event.id ?? lastEventId;
      firstRetryMs = event.retryMs ?? firstRetryMs;
      if (event.type === 'next') {
        const result = JSON.parse(event.data) as StreamedResult;
        // A result without data says why the stream ends. If it may be opened again, no `complete` follows.
        if (result.data !== undefined) listener.next(result);
        else reason = result;
      } else if (event.type === 'complete') end(reason);
    }
    return 0;
  };

  const open = async () => {
    const openedAtMs = Date.now();
    attempt = new AbortController();
    const { signal } = attempt;
    const abort = () => attempt.abort();
    const watch = () => {
      clearTimeout(timer);
      if (!signal.aborted) timer = setTimeout(abort, SILENCE_MS);
    };
    watch();
    listener.state({ kind: 'connecting' });
    const askedMs = await read(watch).catch(() => 0);
    if (isOver) return;
    if (wasLive && Date.now() - openedAtMs >= SOUND_MS) failures = 0;
    const waitMs = Math.max(askedMs, backOffMs());
    failures += 1;
    attempt.abort();
    clearTimeout(timer);
    timer = setTimeout(open, waitMs);
    listener.state({ kind: 'away', retryAtMs: Date.now() + waitMs });
  };

  const backOffMs = () => {
    const longestMs = wasLive ? LONGEST_RETRY_MS : LONGEST_RETRY_IF_NEVER_LIVE_MS;
    // Pages that lost the same gateway must not all return in the same second.
    return Math.min(longestMs, firstRetryMs * 2 ** failures) * (0.75 + Math.random() / 2);
  };

  void open();
  return close;
}

function send({ url, headers, body }: StreamRequest, lastEventId: string, signal: AbortSignal) {
  return fetch(url, {
    method: 'POST',
    credentials: 'omit',
    headers: {
      ...headers,
      accept: 'text/event-stream',
      'content-type': 'application/json',
      ...(lastEventId === '' ? {} : { 'last-event-id': lastEventId }),
    },
    body: JSON.stringify(body),
    signal,
  });
}

interface StreamEvent {
  /** Empty = only the other fields count, as in a heartbeat. */
  type: string;
  data: string;
  /** Undefined = the event has none. */
  id: string | undefined;
  retryMs: number | undefined;
}

/** The events of a body, also those without data. Ends with the body, and rejects when its connection is lost. WHATWG HTML §9.2.6. */
async function* eventsOf(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let fields = new Map<string, string>();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    rest += decoder.decode(value, { stream: true });
    // A CR at the end may be the half of a CR LF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        const id = fields.get('id');
        const retry = fields.get('retry');
        if (fields.size > 0) {
          yield {
            type: fields.get('event') ?? '',
            data: fields.get('data') ?? '',
            id: id === undefined || id.includes('\0') ? undefined : id,
            retryMs: retry !== undefined && /^\d+$/.test(retry) ? Number(retry) : undefined,
          };
        }
        fields = new Map();
        continue;
      }
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      const known = fields.get(name);
      if (name !== '')
        fields.set(name, name === 'data' && known !== undefined ? `${known}\n${value}` : value);
    }
  }
}
