import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, invalidField } from '../../../ground/kernel/errors.js';
import { jsonIn } from '../../../ground/kernel/json.js';
import type { BodyShare } from './bodies-in-flight.js';
import { scanJson } from './json-scan.js';

/** Of the body of a PATCH; `application/json` means the same there. RFC 7396. */
export const MERGE_PATCH = 'application/merge-patch+json';
/** RFC 8259 §8.1: not part of the text, and may be ignored. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/**
 * A string or a number of JSON. The end of a string is optional: otherwise the search would restart at each quotation
 * mark, and a body that is not JSON would take seconds.
 */
const SCALARS = /"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Reading a larger body takes up to a millisecond. */
const LARGE_BYTES = 8_192;
/** Longer members are looked at only if they are strings. */
const MAX_MEMBER_CHARACTERS = 1_000;
/** A known coding has a short name; a message repeats no more of the client's text. */
const MAX_CODING_CHARACTERS = 30;
const LONG_INTEGER = /^-?[1-9]\d{15,}$/;
/** More digits are outside of int64: as a number they are, too. */
const INTEGER = /^\s*-?\d{1,19}\s*$/;

/** Parses a body with the door's form of integers. Throws a SyntaxError if the text is not JSON. D-6. */
type ReadJson = (text: string) => unknown;

/**
 * REST's ids are 64-bit JSON integers: each integer of the outermost object arrives as bigint. Refuses an object that has
 * a name twice.
 */
export const withBigInts: ReadJson = (text) => {
  const value = JSON.parse(text);
  let members = 0;
  scanJson('body', text, (name, digits) => {
    members += 1;
    if (INTEGER.test(digits)) value[JSON.parse(name)] = BigInt(digits);
  });
  if (members > 0 && Object.keys(value).length < members) throw new SyntaxError('A name is repeated');
  return value;
};

/**
 * GraphQL's ids are strings, and its Int has 32 bits: an integer that a number can't represent stays text, digit for
 * digit. If a name is repeated, the last one wins.
 */
export const withNumbersOrText: ReadJson = (text) => {
  const value = JSON.parse(text);
  const exact = /\d{16}/.test(text) ? text.replace(SCALARS, longIntegerAsText) : text;
  // Only after the text itself was parsed: otherwise an integer in place of a name would become a name.
  return exact === text ? value : JSON.parse(exact);
};

function longIntegerAsText(scalar: string): string {
  return LONG_INTEGER.test(scalar) && !Number.isSafeInteger(Number(scalar)) ? `"${scalar}"` : scalar;
}

/** A body of valid UTF-8. It stays bytes until its value is asked for. */
export class JsonBody {
  private value: { parsed: unknown } | null = null;
  private knownKey: string | null = null;

  constructor(
    private readonly bytes: Buffer,
    private readonly read: ReadJson,
    private readonly share: BodyShare | null,
  ) {}

  /** A large body is read in a turn of `EventLoopTurns`. */
  get isLarge(): boolean {
    return this.bytes.length > LARGE_BYTES;
  }

  /** Names the content: the text itself, or the SHA-256 of a large one. */
  get key(): string {
    this.knownKey ??= this.isLarge ? hash('sha256', this.bytes, 'base64url') : this.text();
    return this.knownKey;
  }

  /** Parses once. Throws `AppError`: `invalid_request` for bad JSON, `unavailable` if its values find no room. */
  parse(): unknown {
    if (this.value === null) {
      const text = this.text();
      const values = scanJson('body', text);
      this.share?.set(this.bytes.length, values);
      this.value = { parsed: parseJson(text, this.read) };
    }
    return this.value.parsed;
  }

  /** Drops the parsed value, before a wait: only the bytes wait. */
  forgetValue(): void {
    this.value = null;
    this.share?.set(this.bytes.length);
  }

  /**
   * Parses only these members of the outermost object: strings, and what is short. All others, and those that are not JSON,
   * are undefined.
   */
  members(...names: readonly string[]): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    scanJson('body', this.text(), (quoted, value) => {
      const name = jsonIn(quoted);
      if (typeof name !== 'string' || !names.includes(name)) return;
      const isParsed = value.length <= MAX_MEMBER_CHARACTERS || value.trimStart().startsWith('"');
      members[name] = isParsed ? jsonIn(value) : undefined;
    });
    return members;
  }

  private text(): string {
    return this.bytes.toString().replace(BYTE_ORDER_MARK, '');
  }
}

/**
 * Makes this part of the server accept only JSON in UTF-8, exact to the last digit. `read` returns `request.body`, or a
 * promise of it.
 */
export function acceptJson(
  app: FastifyInstance,
  read: (body: JsonBody, request: FastifyRequest) => unknown,
  readJson: ReadJson,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    ['application/json', MERGE_PATCH],
    { parseAs: 'buffer' },
    (request: FastifyRequest, body: Buffer, done) => {
      // It has no meaning. RFC 9110 §9.3.5.
      if (request.method === 'DELETE') return done(null);
      const type = request.headers['content-type'] ?? '';
      const isElsewhere = request.method !== 'PATCH' && type.toLowerCase().startsWith(MERGE_PATCH);
      const [, charset] = /;\s*charset="?([^";\s]+)/i.exec(type) ?? [];
      if (isElsewhere || (charset && !/^utf-?8$/i.test(charset))) {
        return done(new AppError('unsupported_media_type', 'Send the body as application/json in UTF-8.'));
      }
      const refusedCoding = codingProblem(request.headers['content-encoding']);
      if (refusedCoding) return done(refusedCoding);
      if (!isUtf8(body)) return done(notJson());
      let value: unknown;
      try {
        request.bodyShare?.set(body.length);
        value = read(new JsonBody(body, readJson, request.bodyShare), request);
      } catch (error) {
        return done(error as Error);
      }
      if (!(value instanceof Promise)) return done(null, value);
      value.then((body) => done(null, body), done);
    },
  );
}

/** A compressed body of 100 KB could unfold to 100 MB, so none is accepted. RFC 9110 §15.5.16. */
function codingProblem(header = ''): AppError | null {
  const codings = header.split(',').map((coding) => coding.trim());
  const coding = codings.find((name) => name !== '' && name.toLowerCase() !== 'identity');
  if (coding === undefined) return null;
  const message = `The body has the Content-Encoding ${coding.slice(0, MAX_CODING_CHARACTERS)}. Send it uncompressed.`;
  return new AppError('unsupported_media_type', message, { acceptEncoding: 'identity' });
}

function parseJson(text: string, read: ReadJson): unknown {
  try {
    return read(text);
  } catch (error) {
    // V8 repeats the text after the problem.
    const [problem] = (error as Error).message.split(/, (?:\.\.\.)?"| is not valid JSON/);
    throw notJson(`: ${problem}`);
  }
}

function notJson(reason = ''): AppError {
  return invalidField('body', `must be valid JSON in UTF-8${reason}`);
}
