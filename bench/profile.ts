import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The parts of V8's .cpuprofile in use. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

const SHOWN = 25;

/**
 * Prints the functions with the most self time, for each profile in the folder. Only the second half of a process's life
 * counts, because the first half is its start and its warm-up.
 */
export async function printProfile(folder: string): Promise<void> {
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile;
    const functions = selfMs(profile).filter(([name]) => name !== '(idle)');
    const totalMs = functions.reduce((sum, [, ms]) => sum + ms, 0);
    console.log(`\n${Math.round(totalMs)} ms of work, in the second half of the process's life`);
    console.table(
      functions.slice(0, SHOWN).map(([name, ms]) => ({
        'self %': ((100 * ms) / totalMs).toFixed(1),
        function: name,
      })),
    );
  }
}

function selfMs({ nodes, samples, timeDeltas }: CpuProfile): [name: string, ms: number][] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const totals = new Map<string, number>();
  const halfMicros = timeDeltas.reduce((sum, micros) => sum + micros, 0) / 2;
  let atMicros = 0;
  for (const [index, id] of samples.entries()) {
    const micros = timeDeltas[index] ?? 0;
    atMicros += micros;
    const name = names.get(id) ?? '';
    if (atMicros > halfMicros) totals.set(name, (totals.get(name) ?? 0) + micros / 1000);
  }
  return [...totals].sort(([, a], [, b]) => b - a);
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const file = url.startsWith('file:') ? relative('.', fileURLToPath(url)) : url;
  return `${name}  ${file.replace(/^node_modules\//, '')}:${lineNumber + 1}`;
}
