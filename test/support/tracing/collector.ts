import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

type Value = string | number | boolean;

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** Empty or undefined = the span has no parent. */
  parentSpanId?: string;
  name: string;
  /** As in OTLP: 1 internal, 2 server, 3 client. */
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, Value>;
}

/** The collector's answer to an export. */
type Mood =
  | 'takes'
  | 'is slow'
  | 'refuses'
  | 'is busy'
  | 'is silent'
  | 'switches protocols'
  | 'answers byte by byte'
  | 'answers with 16 MB';

const SLOW_MS = 2_000;
const BYTE_MS = 500;
const LONG = Buffer.alloc(16 * 1024 * 1024, '[');

/** A collector of OTLP over HTTP in JSON, which records what arrives. */
export class Collector {
  mood: Mood = 'takes';
  readonly spans: CollectedSpan[] = [];
  readonly texts: string[] = [];
  resource: Record<string, Value> = {};
  headers: IncomingHttpHeaders = {};
  exports = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Collector> {
    const server = createServer();
    const collector = new Collector(server);
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      collector.exports += 1;
      collector.headers = request.headers;
      if (collector.mood === 'is silent') return;
      if (collector.mood === 'switches protocols') {
        // Node's own response would not send it as the answer.
        request.socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
        return;
      }
      if (collector.mood === 'refuses') return void response.writeHead(400).end();
      if (collector.mood === 'is busy') return void response.writeHead(503).end();
      if (collector.mood.startsWith('answers')) return collector.answerLong(response);
      if (collector.mood === 'is slow') await pause(SLOW_MS);
      if (request.url === '/v1/traces') collector.record(Buffer.concat(chunks).toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private answerLong(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (this.mood === 'answers with 16 MB') response.end(LONG);
    else {
      const timer = setInterval(() => response.write(' '), BYTE_MS);
      response.once('close', () => clearInterval(timer));
    }
  }

  private record(text: string): void {
    this.texts.push(text);
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      this.resource = valuesOf(resource.attributes);
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push({ ...span, attributes: valuesOf(span.attributes) });
      }
    }
  }

  named(name: string): CollectedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** The spans below this one, oldest first, with the spans below them. */
  below({ spanId }: CollectedSpan): CollectedSpan[] {
    return this.spans
      .filter(({ parentSpanId }) => parentSpanId === spanId)
      .flatMap((span) => [span, ...this.below(span)]);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: string | number; boolValue?: boolean; doubleValue?: number };
}

function valuesOf(attributes: Attribute[] = []): Record<string, Value> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, boolValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? boolValue ?? Number(intValue ?? doubleValue),
    ]),
  );
}
