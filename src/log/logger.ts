import { type DestinationStream, type LevelWithSilent, pino } from 'pino';
import { faultFields } from './fault-fields.js';
import { safeLine } from './safe-line.js';
import { textLine } from './text-line.js';

interface LoggerOptions {
  level: LevelWithSilent;
  /** One JSON object a line for programs, or short text for a person. */
  format: 'json' | 'text';
}

/** The logger of a process: whatever is logged, no line holds a token, is longer than about 8 KB, or breaks into two. */
export function createLogger({ level, format }: LoggerOptions, destination: DestinationStream) {
  const streamWrite = format === 'json' ? safeLine : (line: string) => textLine(safeLine(line));
  return pino({ level, hooks: { streamWrite }, serializers: { err: faultFields } }, destination);
}
