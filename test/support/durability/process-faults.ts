/**
 * Loaded into a gateway process before the program: gives it a clock of its own, and kills it behind a statement of
 * SQLite. Reads its orders from the file `TEST_FAULTS` at start and at each SIGUSR2.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import libsql from 'libsql';

export interface ProcessFaults {
  /** How far the clock of the process is ahead. */
  clockAheadMs: number;
  /** The statement of SQLite, counted from the order, behind which the process ends; null = none. */
  killedBehindStatement: number | null;
}

/** The file that says which order the process follows: it has the same text. */
export const seenFile = (file: string) => `${file}.seen`;

const file = process.env.TEST_FAULTS;
if (file !== undefined) follow(file);

function follow(path: string): void {
  let faults: ProcessFaults;
  let statements = 0;
  const read = () => {
    const text = readFileSync(path, 'utf8');
    faults = JSON.parse(text);
    statements = 0;
    writeFileSync(seenFile(path), text);
  };
  read();
  process.on('SIGUSR2', read);
  moveClock(() => faults.clockAheadMs);
  watchStatements(() => {
    statements += 1;
    if (statements === faults.killedBehindStatement) process.kill(process.pid, 'SIGKILL');
  });
}

function moveClock(aheadMs: () => number): void {
  const realNow = Date.now;
  const now = () => realNow() + aheadMs();
  globalThis.Date = new Proxy(Date, {
    construct: (target, values, caller) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, caller),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}

/** Calls `onDone` behind each statement of libsql that ended well. */
function watchStatements(onDone: () => void): void {
  const memory = new libsql(':memory:');
  const watch = <Method extends string>(prototype: Record<Method, unknown>, method: Method) => {
    const original = prototype[method] as (...values: unknown[]) => unknown;
    prototype[method] = function (this: unknown, ...values: unknown[]) {
      const result = original.apply(this, values);
      onDone();
      return result;
    };
  };
  watch(libsql.prototype, 'exec');
  const statement = Object.getPrototypeOf(memory.prepare('SELECT 1'));
  for (const method of ['run', 'all', 'get']) watch(statement, method);
  memory.close();
}
