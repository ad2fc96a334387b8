import { capitalized } from '../../../../noun-words.js';
import type { NounDescription } from '../../../../nouns.js';
import type { Contract } from './contract.js';

/** In the document, which the repository shows for the petstore. */
const CHANGES_CURSOR = 'Petstore-Changes-Cursor';

/** `docs/clients.md`, and the files beside its examples, by name. */
export interface Recipes {
  document: string;
  files: Readonly<Record<string, string>>;
}

const LANGUAGES: Record<string, string> = {
  ts: 'javascript',
  tsx: 'javascript',
  sh: 'shell',
  python: 'python',
};
const ENDINGS: Record<string, string> = { python: 'py' };

/**
 * The recipes as a part of a guide: each heading has an anchor, each block a name, and the words are those of this
 * gateway. Without a change log, live lists are left out.
 */
export function recipesOf(
  { document, files }: Recipes,
  { nouns: [first], names: { changesCursor } }: Contract,
): string {
  const [lists = '', live = ''] = document.split(/^# Live lists$/m);
  const shown = first.hasChanges ? `${lists}## Live lists\n${live}` : lists;
  let anchor = '';
  const text = shown
    .replace(/^# .*\n/, '')
    .replace(/^\[.*\]\(clients\/.*$/m, () => Object.entries(files).map(fileBlock).join(''))
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replace(/^## (.+)$|^```(\w+)$/gm, (_, title?: string, language = '') => {
      if (!title) return blockStart(language, `${anchor}.${ENDINGS[language] ?? language}`);
      anchor = title.toLowerCase().replaceAll(' ', '-');
      return `## ${title} {#${anchor}}`;
    });
  return inWordsOf(document, first, text)
    .replaceAll(CHANGES_CURSOR, changesCursor)
    .replaceAll(CHANGES_CURSOR.toLowerCase(), changesCursor.toLowerCase());
}

const blockStart = (language: string, name: string) => `\`\`\`${LANGUAGES[language]} ${name}`;

/** Nothing is between the blocks, so the page shows them as one block with a choice. */
const fileBlock = ([name, code]: [string, string]) =>
  `${blockStart(name.split('.').at(-1) ?? '', `Beside the recipes: ${name}`)}\n${code.trimEnd()}\n\`\`\`\n`;

/** The text, about the first noun in the place of the noun of the document's addresses. Code names its fields too. */
function inWordsOf(
  document: string,
  { singular, plural, type, fields }: NounDescription,
  text: string,
): string {
  const [, theirs = ''] = /\/v1\/(\w+)s\b/.exec(document) ?? [];
  const [{ name = 'name' } = {}] = fields.filter(({ kind }) => kind === 'text');
  const words: [pattern: string, word: string][] = [
    // Not the command `petstore`.
    [`${theirs}s(?!tore)`, plural],
    [`${theirs.toUpperCase()}S`, plural.toUpperCase()],
    [`${capitalized(theirs)}s(?!tore)`, capitalized(plural)],
    [`\\b${theirs}(?=\\b|Changes)`, singular],
    [`\\b${capitalized(theirs)}(?=List)`, type],
  ];
  const named = text.replace(/^```\w+ [\s\S]*?^```$/gm, (code) => code.replace(/\bname\b/g, name));
  return words.reduce((found, [pattern, word]) => found.replace(new RegExp(pattern, 'g'), word), named);
}
