import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The parts of V8's .cpuprofile in use. */
interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
    children?: number[];
  }[];
  samples: number[];
  timeDeltas: number[];
}

const SHOWN = 25;

/**
 * Prints the functions with the most self time, for each profile in the folder. Only the second half of a process's life
 * counts, because the first half is its start and its warm-up.
 */
export async function printProfile(folder: string): Promise<void> {
  for (const profile of await profilesIn(folder)) {
    const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
    const functions = new Map<string, number>();
    for (const [id, ms] of busyMsByNode(profile)) {
      const name = names.get(id) ?? '';
      functions.set(name, (functions.get(name) ?? 0) + ms);
    }
    const totalMs = sum(functions.values());
    console.log(`\n${Math.round(totalMs)} ms of work, in the second half of the process's life`);
    console.table(
      [...functions]
        .sort(([, a], [, b]) => b - a)
        .slice(0, SHOWN)
        .map(([name, ms]) => ({ 'self %': ((100 * ms) / totalMs).toFixed(1), function: name })),
    );
  }
}

/**
 * The share of the work, from 0 to 1, in functions whose file has `path` in its address, and in all that they call. Not
 * counted: garbage collection, and functions that continue after an `await` of their own.
 */
export function busyShareOf(folder: string, path: string): Promise<number> {
  return shareOf(folder, ({ nodes }) => {
    const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
    const chosen = nodesIn(nodes, [path]);
    const isWithin = (id: number | undefined): boolean =>
      id !== undefined && (chosen.has(id) || isWithin(callers.get(id)));
    return isWithin;
  });
}

/** The share of the work, from 0 to 1, in functions whose file has one of `paths` in its address; without what they call. */
export function selfShareOf(folder: string, paths: readonly string[]): Promise<number> {
  return shareOf(folder, ({ nodes }) => {
    const chosen = nodesIn(nodes, paths);
    return (id) => chosen.has(id);
  });
}

async function shareOf(
  folder: string,
  ruleOf: (profile: CpuProfile) => (id: number) => boolean,
): Promise<number> {
  const [profile] = await profilesIn(folder);
  if (!profile) throw new Error(`no profile in ${folder}`);
  const isCounted = ruleOf(profile);
  const busyMs = [...busyMsByNode(profile)];
  const countedMs = busyMs.filter(([id]) => isCounted(id)).map(([, ms]) => ms);
  return sum(countedMs) / sum(busyMs.map(([, ms]) => ms));
}

function nodesIn(nodes: CpuProfile['nodes'], paths: readonly string[]): Set<number> {
  const chosen = nodes.filter(({ callFrame }) => paths.some((path) => callFrame.url.includes(path)));
  return new Set(chosen.map(({ id }) => id));
}

async function profilesIn(folder: string): Promise<CpuProfile[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'));
  return Promise.all(
    files.map(async (file) => JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile),
  );
}

/** Self time by node of the call tree, without the idle time. */
function busyMsByNode({ nodes, samples, timeDeltas }: CpuProfile): Map<number, number> {
  const idle = nodes.find(({ callFrame }) => callFrame.functionName === '(idle)')?.id;
  const halfMicros = sum(timeDeltas) / 2;
  const selfMs = new Map<number, number>();
  let atMicros = 0;
  for (const [index, id] of samples.entries()) {
    const micros = timeDeltas[index] ?? 0;
    atMicros += micros;
    if (atMicros > halfMicros && id !== idle) selfMs.set(id, (selfMs.get(id) ?? 0) + micros / 1000);
  }
  return selfMs;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const file = url.startsWith('file:') ? relative('.', fileURLToPath(url)) : url;
  return `${name}  ${file.replace(/^node_modules\//, '')}:${lineNumber + 1}`;
}
