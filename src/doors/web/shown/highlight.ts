export type Language = 'json' | 'shell' | 'javascript' | 'python' | 'http' | 'graphql';

const KEYWORDS: Record<Language, string> = {
  json: 'true|false|null',
  shell: 'curl|export',
  javascript:
    'const|let|await|new|throw|if|else|for|while|return|true|false|null|import|from|of|async|function',
  python: 'import|from|while|for|in|if|else|return|raise|None|True|False|def|not',
  http: 'GET|POST|HTTP',
  graphql: 'query|mutation|true|false|null',
};
const COMMENTS: Record<Language, string> = {
  json: '(?!)',
  shell: '(?<=^|\\s)#.*$',
  javascript: '(?<=^|\\s)//.*$',
  python: '#.*$',
  http: '(?!)',
  graphql: '#.*$',
};
const STRINGS = '"(?:[^"\\\\\\n]|\\\\.)*"|\'(?:[^\'\\\\\\n]|\\\\.)*\'|`(?:[^`\\\\]|\\\\.)*`';

/** A part of a text, and what it is: a comment, a key, a string, a number or a word; null = nothing of these. */
export type Token = readonly [kind: string | null, text: string];

/** The parts of a text that get colours, and the text between them. Its characters stay the same. */
export function tokensOf(text: string, language: Language): Token[] {
  const token = new RegExp(
    `(?<comment>${COMMENTS[language]})|(?<key>"(?:[^"\\\\\\n]|\\\\.)*"(?=\\s*:)|^[\\w-]+(?=: ))|(?<string>${STRINGS})` +
      `|(?<number>\\b\\d[\\d.]*\\b)|(?<word>\\b(?:${KEYWORDS[language]})\\b)`,
    'gm',
  );
  const tokens: Token[] = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? ['word'];
    tokens.push([null, text.slice(end, match.index)], [kind, match[0]]);
    end = match.index + match[0].length;
  }
  return [...tokens, [null, text.slice(end)]];
}
