/// <reference path="./markdown-it.d.ts" />
import MarkdownIt from 'markdown-it';
import type { Language } from '../../shown/highlight.js';
import { codeBlock, codeChoice } from '../markup/code-block.js';
import { Html, html } from '../markup/html.js';

/** HTML within Markdown is shown as text. */
const markdown = new MarkdownIt();

export const inline = (text: string) => new Html(markdown.renderInline(text));

/**
 * Text with headings as `## Title {#id}`; a heading such as `not_found` 404 is of an error, and its code is its id. The
 * first cell of a row is its header.
 */
export function prose(text: string): Html {
  const markup = markdown
    .render(text)
    .replace('</h1>\n<p>', '</h1>\n<p class="lead">')
    .replace(/<h2>(.*) \{#(.+)\}<\/h2>/g, '<h2 id="$2">$1</h2>')
    .replace(
      /<h3>(<code>(\w+)<\/code>) ((\d)\d\d)<\/h3>/g,
      '<h3 id="$2">$1 <span class="status status-$4">$3</span></h3>',
    )
    .replaceAll('<th>', '<th scope="col">')
    .replace(/<tr>\n<td>(.*?)<\/td>/g, '<tr>\n<th scope="row">$1</th>');
  return new Html(markup);
}

/**
 * Text with blocks of code, each of which begins with its language and its name. Adjacent blocks that are named
 * `Name: Choice` become one with a choice of the language.
 */
export function guide(text: string): Html {
  // Every second part is blocks of code.
  const parts = text.split(/((?:^```[\s\S]*?^```\n\s*)+)/m);
  return html`${parts.map((part, at) => (at % 2 === 0 ? prose(part) : code(part, `code-${at}`)))}`;
}

function code(text: string, id: string): Html {
  const blocks = [...text.matchAll(/^```(\w+) (.*)\n([\s\S]*?)\n```$/gm)];
  const codes = blocks.map(([, language, name = '', block = '']) => {
    const [label = ''] = name.split(': ').slice(-1);
    return { label, language: language as Language, text: block };
  });
  const [[, , name = ''] = []] = blocks;
  if (codes[0] && codes.length === 1) return codeBlock(codes[0]);
  return codeChoice(id, name.split(': ')[0] ?? '', codes, 'language');
}
