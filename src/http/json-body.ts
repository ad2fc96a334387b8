import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'lossless-json';
import { AppError, invalidRequest } from '../errors.js';

/** RFC 8259 §8.1: no part of the text, and may be ignored. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/** How a door wants the integers of a body that a JavaScript number may not hold. `text` is an integer in JSON's grammar. */
type ReadInteger = (text: string) => unknown;

/** REST's ids are JSON integers of 64 bits: every integer arrives as bigint. */
export const asBigInt: ReadInteger = (text) => BigInt(text);

/** GraphQL's ids are strings, and its Int has 32 bits: what a number can't hold stays text, digit for digit. */
export const asNumberOrText: ReadInteger = (text) => {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
};

/** A body that is valid UTF-8, and JSON only when somebody asks. */
export class JsonText {
  private parsed: { value: unknown } | null = null;

  constructor(
    readonly text: string,
    private readonly readInteger: ReadInteger,
  ) {}

  /** Throws `AppError invalid_request` unless the text is JSON. The work is done once. */
  parse(): unknown {
    this.parsed ??= { value: parseJson(this.text, this.readInteger) };
    return this.parsed.value;
  }
}

/** Makes this part of the server accept JSON in UTF-8, exact to the last digit, and nothing else; `read` gives `request.body`. */
export function acceptJson(
  app: FastifyInstance,
  read: (body: JsonText) => unknown,
  readInteger: ReadInteger,
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
        value = read(new JsonText(body.toString().replace(BYTE_ORDER_MARK, ''), readInteger));
      } catch (error) {
        return done(error as Error);
      }
      done(null, value);
    },
  );
}

function parseJson(json: string, readInteger: ReadInteger): unknown {
  try {
    return parse(json, null, (text) => readNumber(text, readInteger));
  } catch (error) {
    // Also a RangeError, from nesting deeper than the stack.
    const reason = error instanceof SyntaxError ? `: ${error.message}` : '';
    throw notJson(reason);
  }
}

function notJson(reason = ''): AppError {
  return invalidRequest([{ field: 'body', message: `must be valid JSON in UTF-8${reason}` }]);
}

function readNumber(text: string, readInteger: ReadInteger): unknown {
  return /^-?\d+$/.test(text) ? readInteger(text) : Number(text);
}
