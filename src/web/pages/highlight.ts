import { type Html, html } from './html.js';

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

/** The text with its comments, strings, numbers and keywords marked for colours. Its characters stay the same. */
export function highlight(text: string, language: Language): Html {
  const token = new RegExp(
    `(?<comment>${COMMENTS[language]})|(?<key>"(?:[^"\\\\\\n]|\\\\.)*"(?=\\s*:)|^[\\w-]+(?=: ))|(?<string>${STRINGS})` +
      `|(?<number>\\b\\d[\\d.]*\\b)|(?<word>\\b(?:${KEYWORDS[language]})\\b)`,
    'gm',
  );
  const parts: (Html | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? ['word'];
    parts.push(text.slice(end, match.index), html`<span class="t-${kind}">${match[0]}</span>`);
    end = match.index + match[0].length;
  }
  return html`${[...parts, text.slice(end)]}`;
}
