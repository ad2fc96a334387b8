import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate as codegen } from '@graphql-codegen/cli';
import { preset } from '@graphql-codegen/client-preset';
import { createClient } from '@hey-api/openapi-ts';
import { build as kubb } from '@kubb/core';
import { pluginClient } from '@kubb/plugin-client';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';
import { pluginZod } from '@kubb/plugin-zod';
import openapiTypes, { astToString } from 'openapi-typescript';
import { generate as orval } from 'orval';
import ts from 'typescript';

const HERE = import.meta.dirname;
const DOCUMENT = join(HERE, '../openapi.json');
const SCHEMA = join(HERE, '../schema.graphql');
const OUT = join(HERE, 'out');

/** By the name of the tool: writes what it generates into `out`. The options are those of the guide "64-bit numbers". */
const GENERATORS = {
  'openapi-typescript': async () => {
    const transform = ({ format }) =>
      format === 'int64' ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword) : undefined;
    const types = await openapiTypes(JSON.parse(await readFile(DOCUMENT, 'utf8')), { transform });
    await writeFile(join(OUT, 'openapi-typescript.ts'), astToString(types));
  },
  'hey-api': () =>
    createClient({
      input: DOCUMENT,
      output: { path: join(OUT, 'hey-api'), importFileExtension: '.js' },
      plugins: ['@hey-api/client-fetch', '@hey-api/sdk', 'zod'],
      logs: { level: 'silent' },
    }),
  orval: async () => {
    const override = {
      useBigInt: true,
      mutator: { path: join(HERE, 'clients/exact-fetch.ts'), name: 'exactFetch' },
    };
    for (const [target, client] of [
      ['client.ts', 'fetch'],
      ['zod.ts', 'zod'],
    ]) {
      await orval(
        { input: DOCUMENT, output: { target: join(OUT, 'orval', target), client, override } },
        HERE,
      );
    }
  },
  kubb: () =>
    kubb({
      config: {
        root: HERE,
        input: { path: DOCUMENT },
        output: { path: 'out/kubb', extension: { '.ts': '.js' }, barrelType: false },
        plugins: [
          pluginOas({ generators: [] }),
          pluginTs({ output: { path: 'types' }, integerType: 'bigint' }),
          pluginZod({ output: { path: 'zod' }, integerType: 'bigint' }),
          pluginClient({ output: { path: 'clients' }, importPath: '../../../clients/kubb-client.js' }),
        ],
      },
    }),
  'graphql-codegen': () =>
    codegen(
      {
        schema: SCHEMA,
        documents: join(HERE, 'graphql/codegen.ts'),
        silent: true,
        importExtension: '.js',
        generates: {
          [`${join(OUT, 'codegen')}/`]: {
            preset,
            config: { useTypeImports: true, scalars: { ID: 'string' } },
          },
        },
      },
      true,
    ),
  relay: async () => {
    await mkdir(join(OUT, 'relay'), { recursive: true });
    const config = {
      src: './graphql',
      schema: '../schema.graphql',
      language: 'typescript',
      artifactDirectory: './out/relay',
      eagerEsModules: true,
      // Otherwise it adds what it writes to Git's index.
      noSourceControl: true,
      excludes: ['**/node_modules/**'],
    };
    await writeFile(join(OUT, 'relay.json'), JSON.stringify(config));
    run('relay-compiler', 'out/relay.json');
  },
  'gql.tada': () => run('gql-tada', 'generate-output', '--tsconfig', 'tsconfig.json'),
};

/** Runs a program of this package. Throws with its output if it fails. */
function run(program, ...parameters) {
  const { status, stdout, stderr } = spawnSync(join(HERE, 'node_modules/.bin', program), parameters, {
    cwd: HERE,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${program} failed:\n${stdout}${stderr}`);
}

/** Rejects, with the name of the tool, if one fails. */
async function generateAll() {
  await mkdir(OUT, { recursive: true });
  for (const [name, generate] of Object.entries(GENERATORS)) {
    const startedMs = performance.now();
    try {
      await generate();
    } catch (error) {
      throw new Error(`${name} generates nothing from the contract`, { cause: error });
    }
    console.log(`  ${name}: ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  }
}

// Kubb also writes into the folder in which it was started.
process.chdir(HERE);
await generateAll();
