import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import 'reflect-metadata';
import { addressesOf, serversOf } from '../src/app/addresses.js';
import { SERVED_NOUNS } from '../src/app/nouns.js';
import { FieldLimits } from '../src/doors/graphql/execution/field-limits.js';
import { createSchema } from '../src/doors/graphql/schema/schema.js';
import { loadConfig } from '../src/ground/config/config.js';
import { MemoryLimiter } from '../src/request/rate-limit/memory/memory-limiter.js';
import { breakingChanges, type Contract, readContract } from './compatibility.js';
import { openApiDocument } from './openapi.js';
import { type PostmanSource, postmanCollection } from './postman.js';

/**
 * Writes the contract from the code. With `--check` it compares instead, and fails when a file is stale, or when a client of
 * the last release would break.
 */
const config = loadConfig({});
const nouns = await Promise.all(SERVED_NOUNS.map((noun) => noun.contract()));
const schema = await createSchema(nouns, [], new FieldLimits(new MemoryLimiter(Date.now)));
const documents = nouns.map(({ rest }) => rest);
const openApi = openApiDocument(serversOf(addressesOf(config, config.port)), documents);
const contract: Contract = {
  // Not type-graphql's own emitter: it drops directives.
  'schema.graphql': `${printSchemaWithDirectives(schema)}\n`,
  'openapi.json': `${JSON.stringify(openApi, null, 2)}\n`,
};

/** Made from the contract, but no part of it. */
const printed = {
  ...contract,
  'postman.json': `${JSON.stringify(postmanCollection(openApi as PostmanSource), null, 2)}\n`,
};

const isCheck = process.argv.includes('--check');

for (const [name, text] of Object.entries(printed)) {
  const file = resolve('schema', name);
  if (!isCheck) {
    await writeFile(file, text);
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    console.error(`schema/${name} is stale. Run "npm run schema" and commit the result.`);
    process.exitCode = 1;
  }
}

const released = isCheck ? await readContract(resolve('schema/released')) : null;
if (isCheck && !released) console.log('schema/released/ has no contract: nothing to compare with.');
for (const change of released ? breakingChanges(released, contract) : []) {
  console.error(`Breaks clients of the last release (schema/released/): ${change}`);
  process.exitCode = 1;
}
