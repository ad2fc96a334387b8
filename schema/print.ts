import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import 'reflect-metadata';
import { addressesOf, serversOf } from '../src/app/addresses.js';
import { describedGateway, loadGateway } from '../src/app/gateway.js';
import { FieldLimits } from '../src/doors/graphql/execution/field-limits.js';
import { createSchema } from '../src/doors/graphql/schema/schema.js';
import { openApiDocument } from '../src/doors/rest/document/openapi.js';
import { type PostmanSource, postmanCollection } from '../src/doors/rest/document/postman.js';
import { builtFolder } from '../src/doors/web/built-files.js';
import { allPages } from '../src/doors/web/pages/all-pages.js';
import { loadConfig } from '../src/ground/config/config.js';
import { relationsOf } from '../src/noun/definition/relations.js';
import petstore from '../src/petstore.js';
import { ownNames } from '../src/request/http/headers.js';
import { MemoryLimiter } from '../src/request/rate-limit/memory/memory-limiter.js';
import { breakingChanges, type Contract, readContract } from './compatibility.js';

/**
 * Writes the contract from the code. With `--check` it only compares. It fails if a file is stale, if a client of the last
 * release would break, or if a page of the reference can't be rendered.
 */
const config = loadConfig({});
const { nouns, ...gateway } = await loadGateway(petstore);
const served = await Promise.all(
  nouns.map(async (noun) => ({ ...(await noun.contract()), description: noun.description })),
);
const described = describedGateway({ ...gateway, nouns });
const schema = await createSchema(served, [], new FieldLimits(new MemoryLimiter(Date.now)));
const names = ownNames(gateway.slug);
const relations = relationsOf(served.map(({ description }) => description));
const documents = await Promise.all(served.map(({ rest }) => rest(names, relations)));
const openApi = openApiDocument(described, serversOf(addressesOf(config, config.port)), documents);
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

if (isCheck) {
  const usual = { icon: null, style: null };
  const manifest = JSON.parse(await readFile(join(builtFolder('pages'), 'manifest.json'), 'utf8'));
  for (const render of (await allPages(described, usual, manifest, JSON.stringify(openApi))).values())
    render();
}
