/** How results are written into the answer of a stream. */
export interface StreamFormat {
  readonly contentType: string;
  /** Sent once the stream is live. */
  begin(): string;
  /** `cursor`: the position behind the result; null = the stream has none. */
  result(json: string, cursor: string | null): string;
  /** A sign of life; `cursor`: the position behind everything that was examined. */
  beat(cursor: string | null): string;
  /** The end with an error. After one that is not final the client connects again. */
  end(errorsJson: string, isFinal: boolean): string;
}

const LEAST_RETRY_MS = 500;
const MOST_JITTER_MS = 1_500;

/** The distinct connections of graphql-sse's protocol. `id:` lets `EventSource` resume. WHATWG HTML §9.2. */
export const SERVER_SENT_EVENTS: StreamFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  // Jittered, so that the clients of a process that ends do not return all at once.
  begin: () => `retry: ${LEAST_RETRY_MS + Math.round(Math.random() * MOST_JITTER_MS)}\n\n`,
  result: (json, cursor) => `event: next\n${idOf(cursor)}data: ${json}\n\n`,
  beat: (cursor) => `${idOf(cursor)}:\n\n`,
  end: (errorsJson, isFinal) =>
    `event: next\ndata: {"errors":${errorsJson}}\n\n${isFinal ? SERVER_SENT_END : ''}`,
};

const idOf = (cursor: string | null) => (cursor === null ? '' : `id: ${cursor}\n`);

export const SERVER_SENT_END = 'event: complete\ndata:\n\n';

const BOUNDARY = '\r\n--graphql';
/** With the boundary behind it: clients read a part only once they have that. */
const part = (json: string) => `\r\ncontent-type: application/json\r\n\r\n${json}${BOUNDARY}`;

/** Apollo's protocol for subscriptions over HTTP, as Apollo Client and Sandbox send it. */
export const MULTIPART: StreamFormat = {
  contentType: 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0',
  begin: () => `${BOUNDARY}${part('{}')}`,
  result: (json) => part(`{"payload":${json}}`),
  beat: () => part('{}'),
  end: (errorsJson) => `${part(`{"payload":null,"errors":${errorsJson}}`)}--\r\n`,
};
