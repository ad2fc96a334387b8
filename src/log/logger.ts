import { type DestinationStream, type LevelWithSilent, pino } from 'pino';
import { faultFields } from './fault-fields.js';
import { safeLine } from './log-lines.js';
import { textLine } from './text-line.js';

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
