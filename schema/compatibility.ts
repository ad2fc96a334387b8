import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSchema, DangerousChangeType, findBreakingChanges, findDangerousChanges } from 'graphql';
import { openApiBreaks } from './openapi-breaks.js';

/** The text of each file in `schema/`. */
export type Contract = Readonly<Record<'schema.graphql' | 'openapi.json', string>>;

/** The changes that break clients of the released contract; empty = none. The last release's contract is a file, because a clone may lack tags. */
export function breakingChanges(released: Contract, current: Contract): string[] {
  const [older, newer] = [released, current].map((contract) => buildSchema(contract['schema.graphql']));
  if (!older || !newer) return [];
  const dangerous = findDangerousChanges(older, newer);
  // Another default changes the meaning of what clients send already.
  const defaults = dangerous.filter(({ type }) => type === DangerousChangeType.ARG_DEFAULT_VALUE_CHANGE);
  return [
    ...[...findBreakingChanges(older, newer), ...defaults].map(({ description }) => description),
    ...openApiBreaks(JSON.parse(released['openapi.json']), JSON.parse(current['openapi.json'])),
  ];
}

/** The contract of the last release; null = the folder has none, because nothing was released. */
export async function readContract(folder: string): Promise<Contract | null> {
  try {
    const read = (name: keyof Contract) => readFile(join(folder, name), 'utf8');
    return { 'schema.graphql': await read('schema.graphql'), 'openapi.json': await read('openapi.json') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
