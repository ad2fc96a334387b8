import { capitalized, FIRST_NOUN } from '../../nouns.js';

/** `docs/clients.md`, and the files beside its examples, by name. */
export interface Recipes {
  document: string;
  files: Readonly<Record<string, string>>;
}

/** The address in the document. */
const ADDRESS = 'http://127.0.0.1:4000';
const LANGUAGES: Record<string, string> = {
  ts: 'javascript',
  tsx: 'javascript',
  sh: 'shell',
  python: 'python',
};
const ENDINGS: Record<string, string> = { python: 'py' };

/**
 * The recipes as a part of a guide: each heading has an anchor, each block a name, and the address and the words are
 * those of this gateway. Without a change log, live lists are left out.
 */
export function recipesOf({ document, files }: Recipes, origin: string): string {
  const [lists = '', live = ''] = document.split(/^# Live lists$/m);
  const shown = FIRST_NOUN.hasChanges ? `${lists}## Live lists\n${live}` : lists;
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
  return text.replaceAll(ADDRESS, origin).replace(/^```\w+ [\s\S]*?^```$/gm, inWordsOf(document));
}

const blockStart = (language: string, name: string) => `\`\`\`${LANGUAGES[language]} ${name}`;

/** Nothing is between the blocks, so the page shows them as one block with a choice. */
const fileBlock = ([name, code]: [string, string]) =>
  `${blockStart(name.split('.').at(-1) ?? '', `Beside the recipes: ${name}`)}\n${code.trimEnd()}\n\`\`\`\n`;

/** Makes blocks about the noun of the document's addresses blocks about the first noun. */
function inWordsOf(document: string): (code: string) => string {
  const [, theirs = ''] = /\/v1\/(\w+)s\b/.exec(document) ?? [];
  const { singular, plural, type, fields } = FIRST_NOUN;
  const [{ name = 'name' } = {}] = fields.filter(({ kind }) => kind === 'text');
  const words: [pattern: string, word: string][] = [
    [`${theirs}s`, plural],
    [`${capitalized(theirs)}s`, capitalized(plural)],
    [`\\b${theirs}(?=\\b|Changes)`, singular],
    [`\\b${capitalized(theirs)}(?=List)`, type],
    ['\\bname\\b', name],
  ];
  return (code) =>
    words.reduce((text, [pattern, word]) => text.replace(new RegExp(pattern, 'g'), word), code);
}
