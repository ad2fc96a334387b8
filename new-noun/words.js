import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The word of the template, which the new noun replaces. `WidgetState` begins with it. */
const TEMPLATE_WORD = /widgets?|Widgets?|WIDGETS?/g;
const LONGEST = 24;
/** Commands, scopes, pages and paths of the gateway. */
const OF_THE_GATEWAY =
  'activities backups copies doctors domains files imports keys migrations overviews projects requests sandboxes settings';
/** Of SQL, as names of tables. */
const OF_SQL = 'databases groups lines references rows schemas values';

/** The forms of a noun. `plural` is what the user gave, or follows from the singular. */
export function wordsOf(singular, plural = regularPlural(singular)) {
  return { singular, plural, type: capitalized(singular), types: capitalized(plural) };
}

/** A text or a path of the template, with the new noun and the time of its migration. */
export function filled(text, { singular, plural, type, types }, timeMs) {
  const forms = { widget: singular, widgets: plural, Widget: type, Widgets: types };
  const upper = { WIDGET: singular.toUpperCase(), WIDGETS: plural.toUpperCase() };
  const article = /^[aeiou]/.test(singular) ? 'n' : '';
  return text
    .replace(/\b(a)(?= widget\b)/gi, `$1${article}`)
    .replace(TEMPLATE_WORD, (word) => ({ ...forms, ...upper })[word])
    .replace(/1790000000000/g, String(timeMs));
}

/** The reason why there can be no such noun in the project at `root`; null = there can be. */
export function problemOf({ singular, plural, type, types }, root) {
  const form = /^[a-z]+$/;
  for (const word of [singular, plural]) {
    if (!form.test(word)) return `"${word}" is not a word of lower-case letters, such as book.`;
    if (word.length > LONGEST) return `"${word}" has more than ${LONGEST} letters.`;
  }
  if (plural === singular) return `The plural of "${singular}" must differ from it: state another one.`;
  for (const folder of [`src/${plural}`, `test/${plural}`, `test/support/nouns/${plural}.ts`]) {
    if (existsSync(join(root, folder))) return `${folder} already exists.`;
  }
  const schema = readFileSync(join(root, 'schema/schema.graphql'), 'utf8');
  const field = [singular, plural, `create${type}`, `create${types}`].find((name) => isField(schema, name));
  if (field !== undefined) return `The GraphQL API already has the root field "${field}".`;
  const isType = new RegExp(`^(type|enum|input|interface|scalar|union) ${type}\\b`, 'm').test(schema);
  if (isType) return `The GraphQL API already has the type "${type}".`;
  if (OF_THE_GATEWAY.split(' ').includes(plural)) return `"${plural}" is a word of the gateway itself.`;
  if (OF_SQL.split(' ').includes(plural)) return `"${plural}" is a reserved word of SQL.`;
  return null;
}

function regularPlural(word) {
  if (/[^aeiou]y$/.test(word)) return word.replace(/y$/, 'ies');
  return /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
}

function capitalized(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function isField(schema, name) {
  const roots = [...schema.matchAll(/^type (?:Query|Mutation) \{$(.*?)^\}$/gms)].map(([, fields]) => fields);
  return roots.some((fields) => new RegExp(`^  ${name}\\b`, 'm').test(fields));
}
