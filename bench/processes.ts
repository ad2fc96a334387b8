import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Contestants run here; databases and the load generator have the other core. */
export const CONTESTANT_CORE = 0;
export const OTHER_CORE = 1;

/** Whether this machine can pin processes to cores. */
export const canPin = availableParallelism() >= 2 && hasTaskset();

/** Starts a process that ends with this one at the latest. `cores` null = any core. */
export function spawnPinned(
  cores: number | null,
  command: readonly string[],
  options: { env: Record<string, string>; stdio: ('ignore' | 'pipe' | 'inherit' | number)[] },
): ChildProcess {
  const pin = cores !== null && canPin ? ['taskset', '-c', String(cores)] : [];
  const [file = '', ...args] = [...pin, ...command];
  const child = spawn(file, args, options);
  const forget = atExit(() => child.kill('SIGKILL'));
  child.once('exit', forget);
  return child;
}

const endings = new Set<() => void>();
process.once('exit', () => {
  for (const end of endings) end();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Runs `end` when this process ends, except by SIGKILL. The returned function cancels that. */
export function atExit(end: () => void): () => void {
  endings.add(end);
  return () => endings.delete(end);
}

/** Moves a running process with all its threads; `cores` null = any core. */
export function moveTo(cores: number | null, processId: number | null): void {
  if (!canPin || processId === null) return;
  const list = cores === null ? `0-${availableParallelism() - 1}` : String(cores);
  execFileSync('taskset', ['-acp', list, String(processId)], { stdio: 'ignore' });
}

/** Processor time of a process and its threads, in seconds; null without /proc. */
export function cpuSecondsOf(processId: number): number | null {
  const stat = readProc(processId, 'stat');
  if (stat === null) return null;
  // The process name may have spaces, so fields count from its `)`. Fields 14 and 15 are in ticks: 100 a second on Linux.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/**
 * Counts the processor time of a process and its threads from now on, to the nanosecond: `cpuSecondsOf` is too coarse for
 * short turns. The returned function reads it, in microseconds. Needs Linux.
 */
export function processorTimeOf(processId: number): () => number {
  const before = nanosOfThreads(processId);
  return () =>
    [...nanosOfThreads(processId)].reduce(
      (sum, [thread, nanos]) => sum + nanos - (before.get(thread) ?? 0),
      0,
    ) / 1_000;
}

/** As `processorTimeOf`, of the main thread alone. */
export function mainThreadTimeOf(processId: number): () => number {
  const before = nanosOf(processId, String(processId));
  return () => (nanosOf(processId, String(processId)) - before) / 1_000;
}

function nanosOfThreads(processId: number): Map<string, number> {
  return new Map(
    readdirSync(`/proc/${processId}/task`).map((thread) => [thread, nanosOf(processId, thread)]),
  );
}

/** 0 for a thread that has ended. */
function nanosOf(processId: number, thread: string): number {
  const [nanos = 0] = (readProc(processId, `task/${thread}/schedstat`) ?? '').split(' ').map(Number);
  return nanos;
}

/** Resident megabytes, now (`VmRSS`) or at the peak (`VmHWM`); null without /proc. */
export function memoryMbOf(processId: number, field: 'VmRSS' | 'VmHWM'): number | null {
  const [, kilobytes] =
    new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readProc(processId, 'status') ?? '') ?? [];
  return kilobytes === undefined ? null : (Number(kilobytes) * 1024) / 1e6;
}

function readProc(processId: number, file: string): string | null {
  const path = `/proc/${processId}/${file}`;
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
