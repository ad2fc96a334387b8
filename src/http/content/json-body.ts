import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'lossless-json';
import { AppError, invalidRequest } from '../../kernel/errors.js';

/** RFC 8259 §8.1: not part of the text, and may be ignored. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/** Deeper nesting would exceed the stack of code that reads the variables. */
const MAX_DEPTH_NATIVE = 4_096;

const [OPENING_BRACKET, OPENING_BRACE] = [0x5b, 0x7b];

/**
 * A string or a number of JSON. The end of a string is optional: otherwise the search would restart at each quotation
 * mark, and a body that is not JSON would take seconds.
 */
const SCALARS = /"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Parsing a larger body takes a millisecond or more. */
const LARGE_CHARACTERS = 8_192;
const LONG_INTEGER = /^-?[1-9]\d{15,}$/;

/** Parses a body with the door's form of integers. Throws the problem if the text is not JSON. */
type ReadJson = (text: string) => unknown;

/** REST's ids are 64-bit JSON integers: every integer arrives as bigint. */
export const withBigInts: ReadJson = (text) => parse(text, null, (digits) => numberIn(digits, BigInt));

/**
 * GraphQL's ids are strings, and its Int has 32 bits: an integer that a number can't represent stays text, digit for
 * digit.
 */
export const withNumbersOrText: ReadJson = (text) => {
  // Node's own parser is several times as fast and makes flat strings, but rounds integers of 16 digits: these become
  // text. If a key is repeated, the last one wins.
  if (isShallow(text)) {
    try {
      const value = JSON.parse(text);
      const exact = /\d{16}/.test(text) ? text.replace(SCALARS, longIntegerAsText) : text;
      // Only after the text itself was parsed: otherwise an integer in place of a key would become a key.
      return exact === text ? value : JSON.parse(exact);
    } catch {
      // The other parser describes the problem without repeating the text.
    }
  }
  return parse(text, null, (digits) => numberIn(digits, numberOrText));
};

function isShallow(text: string): boolean {
  let opened = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === OPENING_BRACKET || character === OPENING_BRACE) opened += 1;
  }
  return opened <= MAX_DEPTH_NATIVE;
}

function longIntegerAsText(scalar: string): string {
  return LONG_INTEGER.test(scalar) && !Number.isSafeInteger(Number(scalar)) ? `"${scalar}"` : scalar;
}

/** A body of valid UTF-8, which is parsed as JSON only on demand. */
export class JsonText {
  private parsed: { value: unknown } | null = null;

  constructor(
    readonly text: string,
    private readonly read: ReadJson,
  ) {}

  /** A large body is parsed in a turn of `EventLoopTurns`. */
  get isLarge(): boolean {
    return this.text.length > LARGE_CHARACTERS;
  }

  /** Throws `AppError invalid_request` unless the text is JSON. Parses once. */
  parse(): unknown {
    this.parsed ??= { value: parseJson(this.text, this.read) };
    return this.parsed.value;
  }
}

/**
 * Makes this part of the server accept only JSON in UTF-8, exact to the last digit. `read` returns `request.body`, or a
 * promise of it.
 */
export function acceptJson(
  app: FastifyInstance,
  read: (body: JsonText, request: FastifyRequest) => unknown,
  readJson: ReadJson,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request: FastifyRequest, body: Buffer, done) => {
      const [, charset] = /;\s*charset="?([^";\s]+)/i.exec(request.headers['content-type'] ?? '') ?? [];
      if (charset && !/^utf-?8$/i.test(charset)) {
        return done(new AppError('unsupported_media_type', 'Send the body as application/json in UTF-8.'));
      }
      if (!isUtf8(body)) return done(notJson());
      let value: unknown;
      try {
        value = read(new JsonText(body.toString().replace(BYTE_ORDER_MARK, ''), readJson), request);
      } catch (error) {
        return done(error as Error);
      }
      if (!(value instanceof Promise)) return done(null, value);
      value.then((body) => done(null, body), done);
    },
  );
}

function parseJson(text: string, read: ReadJson): unknown {
  try {
    return read(text);
  } catch (error) {
    // Also a RangeError, caused by nesting deeper than the stack.
    const reason = error instanceof SyntaxError ? `: ${error.message}` : '';
    throw notJson(reason);
  }
}

function notJson(reason = ''): AppError {
  return invalidRequest([{ field: 'body', message: `must be valid JSON in UTF-8${reason}` }]);
}

function numberIn(text: string, readInteger: (text: string) => unknown): unknown {
  return /^-?\d+$/.test(text) ? readInteger(text) : Number(text);
}

function numberOrText(text: string): unknown {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}
