import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'lossless-json';
import { AppError, invalidRequest } from '../errors.js';

/** RFC 8259 §8.1: no part of the text, and may be ignored. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/** Nothing that reads variables may meet deeper nesting than its stack has room for. */
const MAX_DEPTH_NATIVE = 4_096;

const [OPENING_BRACKET, OPENING_BRACE] = [0x5b, 0x7b];

/**
 * A text or a number of JSON. The end of a text is optional: without one the search would begin anew at each quotation
 * mark, and a body that is no JSON would take seconds.
 */
const SCALARS = /"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?[1-9]\d{15,}$/;

/** How a door wants the integers of a body. Throws what is wrong with a text that is no JSON. */
type ReadJson = (text: string) => unknown;

/** REST's ids are JSON integers of 64 bits: every integer arrives as bigint. */
export const withBigInts: ReadJson = (text) => parse(text, null, (digits) => numberIn(digits, BigInt));

/** GraphQL's ids are strings, and its Int has 32 bits: what a number can't hold stays text, digit for digit. */
export const withNumbersOrText: ReadJson = (text) => {
  // Node's own parser is several times as fast, makes flat strings, and rounds integers of 16 digits: these become text.
  // Of a key given twice the last one counts.
  if (isShallow(text)) {
    try {
      const value = JSON.parse(text);
      const exact = /\d{16}/.test(text) ? text.replace(SCALARS, longIntegerAsText) : text;
      // Not before the text itself was read: an integer in the place of a key would become a key.
      return exact === text ? value : JSON.parse(exact);
    } catch {
      // The other parser says what is wrong without repeating the text.
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

/** A body that is valid UTF-8, and JSON only when somebody asks. */
export class JsonText {
  private parsed: { value: unknown } | null = null;

  constructor(
    readonly text: string,
    private readonly read: ReadJson,
  ) {}

  /** Throws `AppError invalid_request` unless the text is JSON. The work is done once. */
  parse(): unknown {
    this.parsed ??= { value: parseJson(this.text, this.read) };
    return this.parsed.value;
  }
}

/** Makes this part of the server accept JSON in UTF-8, exact to the last digit, and nothing else; `read` gives `request.body`. */
export function acceptJson(
  app: FastifyInstance,
  read: (body: JsonText) => unknown,
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
        value = read(new JsonText(body.toString().replace(BYTE_ORDER_MARK, ''), readJson));
      } catch (error) {
        return done(error as Error);
      }
      done(null, value);
    },
  );
}

function parseJson(text: string, read: ReadJson): unknown {
  try {
    return read(text);
  } catch (error) {
    // Also a RangeError, from nesting deeper than the stack.
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
