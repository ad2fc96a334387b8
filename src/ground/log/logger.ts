import { type DestinationStream, type LevelWithSilent, pino } from 'pino';
import { safeLine } from './log-lines.js';

interface LoggerOptions {
  level: LevelWithSilent;
  /** `json`: one object per line, for programs. `text`: short lines for a person. */
  format: 'json' | 'text';
}

/** The logger of a process. No line contains a token, exceeds about 8 KB, or breaks into two. D-93. */
export function createLogger({ level, format }: LoggerOptions, destination: DestinationStream) {
  const streamWrite = format === 'json' ? safeLine : (line: string) => textLine(safeLine(line));
  return pino({ level, hooks: { streamWrite }, serializers: { err: faultFields } }, destination);
}

const MAX_CAUSES = 3;

/** The logged form of an error. Drivers attach a statement's values to their errors: client data, which is left out. */
function faultFields(error: unknown, depth = 0): Fields {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { name, message, stack, code, query, cause } = error as Error & Record<string, unknown>;
  return {
    type: error.constructor.name || name,
    message,
    stack,
    code: typeof code === 'string' ? code : undefined,
    query: typeof query === 'string' ? query : undefined,
    cause: cause instanceof Error && depth < MAX_CAUSES ? faultFields(cause, depth + 1) : undefined,
  };
}

const LEVELS: Record<number, string> = { 40: 'WARN ', 50: 'ERROR ', 60: 'FATAL ' };
/** Includes characters that reverse the order of text, or that some readers treat as line ends. */
const CONTROL = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

type Fields = Record<string, unknown>;

/** A log line for a person at a terminal: `14:02:11 GET /v1/books 200 1.2 ms key 42 left 299`. */
function textLine(json: string): string {
  const { level, time, pid: _, hostname: __, msg, err, ...fields } = JSON.parse(json) as Fields;
  const said = msg === 'request' ? requestText(fields) : messageText(String(msg ?? ''), fields);
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const line = `${clock} ${LEVELS[Number(level)] ?? ''}${said}`;
  return [line, ...faultLines(err)].map(escaped).join('\n').concat('\n');
}

function requestText({ method, path, status, durationMs, keyId, minuteLeft, requestId }: Fields): string {
  return [
    `${method} ${path} ${status} ${durationMs} ms`,
    keyId === undefined ? '' : ` key ${keyId}`,
    minuteLeft === undefined ? '' : ` left ${minuteLeft}`,
    // With the id the reader finds the lines that give the reason.
    Number(status) >= 500 ? ` request ${requestId}` : '',
  ].join('');
}

function messageText(message: string, fields: Fields): string {
  const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  return (
    message +
    Object.entries(fields)
      .map(([name, value]) => ` ${name}=${plain(value)}`)
      .join('')
  );
}

function faultLines(err: unknown): string[] {
  if (typeof err !== 'object' || err === null) return [];
  const { stack, message, cause } = err as Fields;
  const lines = String(stack ?? message).split('\n');
  return [...lines.map((line) => `    ${line}`), ...faultLines(cause)];
}

/** A client must not be able to control the terminal or to forge a line. */
function escaped(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
