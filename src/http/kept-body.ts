import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { isKnownTag, strongTag } from './entity-tag.js';

/** Smallest first: browsers accept all of them equally. RFC 9110 §8.4.1. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;
/** Brotli's levels above cost ten times as much for 2 % less. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

export type Encoded = Readonly<Record<(typeof ENCODINGS)[number], Buffer>>;

/** A body as bytes, compressed once for each encoding. Each encoding has another strong ETag. RFC 9110 §8.8.3.3. */
export class KeptBody {
  private readonly etags: Readonly<Record<keyof Encoded, string>>;

  constructor(
    readonly type: string,
    private readonly encoded: Encoded,
  ) {
    const { br, gzip, identity } = encoded;
    this.etags = { br: strongTag(br), gzip: strongTag(gzip), identity: strongTag(identity) };
  }

  /** Compresses the content outside of the event loop. */
  static async of(type: string, content: string | Buffer): Promise<KeptBody> {
    const identity = Buffer.from(content);
    const [br, gz] = await Promise.all([
      promisify(brotliCompress)(identity, QUALITY),
      promisify(gzip)(identity),
    ]);
    return new KeptBody(type, { br, gzip: gz, identity });
  }

  /** Of all encodings together. */
  get bytes(): number {
    return ENCODINGS.reduce((sum, name) => sum + this.encoded[name].length, 0);
  }

  /** Answers GET and HEAD: 304 to a client that has these bytes already. `Vary` is the caller's to set. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const accepted = new Negotiator(request.raw).encodings([...ENCODINGS]);
    const encoding = ENCODINGS.find((name) => accepted.includes(name)) ?? 'identity';
    const body = this.encoded[encoding];
    const etag = this.etags[encoding];
    reply.header('etag', etag);
    const isKnown = isKnownTag(request.headers['if-none-match'], etag);
    if (isKnown) reply.code(304);
    // Fastify removes the body of a HEAD, and fails where there is none.
    if (isKnown && request.method !== 'HEAD') return reply.send();
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.type(this.type).send(body);
  }
}
