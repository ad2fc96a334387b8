import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { isKnownTag, strongTag } from './entity-tag.js';

/** Smallest first: browsers accept all of them equally. RFC 9110 §8.4.1. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;
/** Higher Brotli levels cost ten times as much for 2 % less. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

type Encoding = (typeof ENCODINGS)[number];

/** A font is kept as it is only: its format is already compressed. */
export type Encoded = Readonly<{ identity: Buffer } & Partial<Record<Encoding, Buffer>>>;

/** A body as bytes, compressed once per encoding. Each encoding has its own strong ETag. RFC 9110 §8.8.3.3. */
export class KeptBody {
  private readonly etags: Readonly<Record<Encoding, string>>;

  constructor(
    readonly type: string,
    private readonly encoded: Encoded,
  ) {
    const { identity, br = identity, gzip = identity } = encoded;
    this.etags = { br: strongTag(br), gzip: strongTag(gzip), identity: strongTag(identity) };
  }

  /** Compresses the content outside the event loop. */
  static async of(type: string, content: string | Buffer): Promise<KeptBody> {
    const identity = Buffer.from(content);
    const [br, gz] = await Promise.all([
      promisify(brotliCompress)(identity, QUALITY),
      promisify(gzip)(identity),
    ]);
    return new KeptBody(type, { br, gzip: gz, identity });
  }

  get text(): string {
    return this.encoded.identity.toString();
  }

  /** Responds to GET and HEAD; sends 304 to a client that already has these bytes. The caller sets `Vary`. */
  sendNegotiated(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const accepted = new Negotiator(request.raw).encodings([...ENCODINGS]);
    const encoding = ENCODINGS.find((name) => accepted.includes(name) && this.encoded[name]) ?? 'identity';
    const body = this.encoded[encoding] ?? this.encoded.identity;
    const etag = this.etags[encoding];
    reply.header('etag', etag);
    const ifNoneMatch = request.headers['if-none-match'];
    const isKnown = ifNoneMatch !== undefined && isKnownTag(ifNoneMatch, etag);
    if (isKnown) reply.code(304);
    // Fastify removes the body of a HEAD, and fails if there is none.
    if (isKnown && request.method !== 'HEAD') return reply.send();
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.type(this.type).send(body);
  }
}
