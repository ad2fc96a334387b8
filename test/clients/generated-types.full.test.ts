import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const execute = promisify(execFile);
const GUIDE = 'browser/pages/reference/guides/clients.md';
const PACKAGES = 'schema/generators';
/** What a caller may and may not write; each `@ts-expect-error` is an error if the line below is allowed. */
const USES = {
  'use-apollo.ts': `
import { rename } from './apollo.js';
const { data } = await rename('9223372036854775807', 'Rex');
export const createdAt: string | undefined = data?.updatePet.createdAt;
// @ts-expect-error a number may have lost digits
await rename(1, 'Rex');`,
  'use-urql.ts': `
import { CHANGE } from './change.js';
import { rename } from './urql.js';
const { data } = await rename('9223372036854775807', 'Rex');
export const createdAt: string | undefined = data?.updatePet.createdAt;
type Variables = NonNullable<(typeof CHANGE)['__apiType']> extends (variables: infer V) => unknown ? V : never;
export const variables: Variables = { id: '1', input: { categoryId: '9223372036854775807' } };
// @ts-expect-error a number may have lost digits
export const other: Variables = { id: '1', input: { categoryId: 1 } };`,
  'use-relay.ts': `
import type { relayChangeMutation } from './__generated__/relayChangeMutation.graphql.js';
type Variables = relayChangeMutation['variables'];
export const variables: Variables = { id: '1', input: { categoryId: '9223372036854775807' } };
export const createdAt = (response: relayChangeMutation['response']): string => response.updatePet.createdAt;
// @ts-expect-error a number may have lost digits
export const other: Variables = { id: '1', input: { categoryId: 1 } };`,
  'use-tada.ts': `
import type { ResultOf, VariablesOf } from 'gql.tada';
import { CHANGE } from './tada.js';
type Variables = VariablesOf<typeof CHANGE>;
export const variables: Variables = { id: '1', input: { categoryId: '9223372036854775807' } };
export const createdAt = (result: ResultOf<typeof CHANGE>): string => result.updatePet.createdAt;
// @ts-expect-error a number may have lost digits
export const other: Variables = { id: '1', input: { categoryId: 1 } };`,
};

let folder: string;
beforeAll(async () => {
  await execute(process.execPath, [join(PACKAGES, 'install.js')]);
  folder = await mkdtemp(join(tmpdir(), 'petstore-types-'));
  await symlink(resolve(PACKAGES, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await cp(resolve('schema/schema.graphql'), join(folder, 'schema.graphql'));
  const guide = (await readFile(GUIDE, 'utf8')).replaceAll('{{Item}}', 'Pet');
  for (const [, name = '', code = ''] of guide.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), code);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('Recipes-6: with the settings of the reference Apollo Client, urql, Relay and gql.tada type an ID as a string only', async () => {
  await run('graphql-codegen');
  await run('relay-compiler');
  await run('gql.tada', 'generate-output');
  for (const [name, code] of Object.entries(USES)) await writeFile(join(folder, 'src', name), code);
  expect(await run('tsc', '--noEmit', '--skipLibCheck', '--target', 'es2022')).toBe('');
});

/** Returns what the program says; rejects with it when it fails. */
async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(join(folder, 'node_modules/.bin', program), args, { cwd: folder }).catch(
    (error) => {
      throw new Error(`${program}: ${error.stdout}${error.stderr}`);
    },
  );
  return stdout;
}
