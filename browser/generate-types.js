import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as operations from '@graphql-codegen/typescript-operations';
import { buildSchema, parse, validate } from 'graphql';

const SOURCES = join(import.meta.dirname, 'dashboard/src');
const OUTPUT = join(SOURCES, 'graphql/generated.ts');

/**
 * Types and documents of every `*.graphql` file of the dashboard, generated from the contract. They are not committed:
 * each build and check generates them, so they are never stale, and an operation that the contract does not allow fails
 * there.
 */
export async function generateTypes() {
  const contract = join(import.meta.dirname, '../schema/schema.graphql');
  const schema = parse(await readFile(contract, 'utf8'));
  const files = (await readdir(SOURCES, { recursive: true })).filter((file) => file.endsWith('.graphql'));
  const documents = await Promise.all(
    files.sort().map(async (location) => ({
      location,
      document: parse(await readFile(join(SOURCES, location), 'utf8')),
    })),
  );
  const all = { kind: 'Document', definitions: documents.flatMap(({ document }) => document.definitions) };
  const problems = validate(buildSchema(await readFile(contract, 'utf8')), all);
  if (problems.length > 0) throw new Error(problems.map(String).join('\n'));
  const scalars = { ID: 'string', DateTime: 'string' };
  const text = await codegen({
    schema,
    documents,
    filename: OUTPUT,
    config: {
      scalars,
      enumType: 'string-literal',
      useTypeImports: true,
      dedupeFragments: true,
      skipTypename: false,
      avoidOptionals: { variableValue: false, inputValue: false },
    },
    plugins: [{ operations: {} }, { typedDocumentNode: {} }],
    pluginMap: { operations, typedDocumentNode },
  });
  const old = await readFile(OUTPUT, 'utf8').catch(() => '');
  if (old !== text) await writeFile(OUTPUT, text);
}

if (process.argv[1] === import.meta.filename) await generateTypes();
