import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Where contestants run; databases and the load generator have another core. */
export const CONTESTANT_CORE = 0;
export const OTHER_CORE = 1;

/** Whether processes can be pinned to cores here. */
export const canPin = availableParallelism() >= 2 && hasTaskset();

/** `cores` null = wherever the system likes. The process ends at the latest together with this one. */
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

/** Runs when this process ends in whatever way but SIGKILL, unless the returned function was called before. */
export function atExit(end: () => void): () => void {
  endings.add(end);
  return () => endings.delete(end);
}

/** Moves a running process with all its threads; null = anywhere. */
export function moveTo(cores: number | null, processId: number | null): void {
  if (!canPin || processId === null) return;
  const list = cores === null ? `0-${availableParallelism() - 1}` : String(cores);
  execFileSync('taskset', ['-acp', list, String(processId)], { stdio: 'ignore' });
}

/** Processor time that a process has used, its threads included; null where there is no /proc. */
export function cpuSecondsOf(processId: number): number | null {
  const stat = readProc(processId, 'stat');
  if (stat === null) return null;
  // The name before may hold spaces. Fields 14 and 15, in ticks, of which Linux shows 100 a second everywhere.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Megabytes in memory, now (`VmRSS`) or at most so far (`VmHWM`); null where there is no /proc. */
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
