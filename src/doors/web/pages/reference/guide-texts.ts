import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { stringify } from 'lossless-json';
import { packageRoot } from '../../../../ground/kernel/package.js';
import {
  capitalized,
  exampleValueOf,
  joined,
  sampleIdempotencyKey,
  withoutStop,
} from '../../../../noun-words.js';
import type { NounField } from '../../../../nouns.js';
import type { Contract, LocatedOperation } from './contract.js';
import type { Recipes } from './recipes.js';

/** Files of the package, which the build does not change. */
const GUIDES = 'browser/pages/reference/guides';
/** The recipes of the page about clients: a document, and the files beside its examples. */
const RECIPES = 'docs/clients.md';
const FILES = 'docs/clients';

export interface ReferenceTexts {
  /** By name, such as `limits`. */
  guides: Readonly<Record<string, string>>;
  recipes: Recipes;
}

export async function readTexts(): Promise<ReferenceTexts> {
  const [guides, files, document] = await Promise.all([
    readFiles(GUIDES, '.md'),
    readFiles(FILES),
    readFile(join(packageRoot(), RECIPES), 'utf8'),
  ]);
  return { guides, recipes: { document, files } };
}

async function readFiles(folder: string, suffix?: string): Promise<Record<string, string>> {
  const path = join(packageRoot(), folder);
  const read = async (name: string) => [basename(name, suffix), await readFile(join(path, name), 'utf8')];
  return Object.fromEntries(await Promise.all((await readdir(path)).map(read)));
}

/** A guide with its placeholders filled in. Throws if it has an unknown one. */
export function filledGuide(text: string, contract: Contract, recipes: string): string {
  const values: Record<string, string> = { ...valuesOf(contract), recipes };
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`a guide has an unknown placeholder: {{${name}}}`);
    return value;
  });
}

/** The names that a guide may write as `{{name}}`. The examples are of the first noun. */
function valuesOf({ operations, nouns, names }: Contract): Record<string, string> {
  const [first] = nouns;
  const { singular, plural, withArticle, fields } = first;
  const linkTo = (wanted: string) =>
    operations.filter(({ method, path }) => method === 'GET' && path === wanted).map(link);
  const required = fields.filter(({ isRequired }) => isRequired);
  return {
    /** Names of headers. */
    strikes: names.strikes,
    rehearse: names.rehearse,
    /** All nouns: `books`, `books and films`. */
    nouns: joined(nouns),
    /** `books`, also as the path. */
    items: plural,
    item: singular,
    /** Its type in GraphQL, such as `Book`. */
    Item: first.type,
    /** `A book`. */
    AnItem: capitalized(withArticle),
    anItem: withArticle,
    /** A request body with the required fields. */
    newItem: stringify(Object.fromEntries(required.map((each) => [each.name, exampleValueOf(each)]))) ?? '',
    /** The same in JavaScript. */
    newItemCode: `{ ${required.map((each) => `${each.name}: ${codeOf(each)}`).join(', ')} }`,
    idempotencyKey: sampleIdempotencyKey(first),
    cursor: btoa(`${singular}:4712`).replaceAll('=', ''),
    /** A link to the list. */
    listOperation: linkTo(`/v1/${plural}`).join(),
    /** Where new records are found; empty if the noun has no changes. */
    follow: linkTo(`/v1/${plural}/changes`)
      .map((changes) => `The change log does: ${changes} has each change exactly once, in order.`)
      .join(),
    /** Rows of a table: the scopes of the nouns. */
    scopes: nouns
      .flatMap(({ plural, actions = [] }) => [
        `| \`${plural}:read\` | Read ${plural}, over REST and GraphQL |`,
        `| \`${plural}:write\` | Create and change ${plural} |`,
        ...actions.map(({ name, description }) => `| \`${plural}:${name}\` | ${withoutStop(description)} |`),
      ])
      .join('\n'),
    /** A list of the deprecated operations. */
    deprecated: deprecatedIn(operations),
    /** A list of the beta operations. */
    beta: operations
      .filter(({ 'x-stability': stability }) => stability === 'beta')
      .map((operation) => `- ${link(operation)}`)
      .join('\n'),
  };
}

function codeOf({ kind, json, example }: NounField): string {
  if (kind === 'int64') return `${example}n`;
  return json !== 'text' ? example : `'${example.replaceAll(/['\\]/g, '\\$&')}'`;
}

function deprecatedIn(operations: readonly LocatedOperation[]): string {
  const lines = operations
    .filter(({ deprecated }) => deprecated)
    .map((operation) => {
      const { method, path, 'x-deprecated-sunset': sunset } = operation;
      return `- ${link(operation)}, \`${method} ${path}\`: removed on ${sunset}.`;
    });
  return lines.length === 0 ? 'At present there is none.' : lines.join('\n');
}

function link({ summary, operationId }: LocatedOperation): string {
  return `[${summary}](/v1/docs/${operationId})`;
}
