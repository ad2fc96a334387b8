import MarkdownIt from 'markdown-it';
import type { Language } from '../../highlight.js';
import { codeBlock, codeChoice } from '../../render/code-block.js';
import { Html, html } from '../../render/html.js';

/** A part of a guide with a heading. */
export interface Section {
  /** The target of links to the section; unique on its page. */
  id: string;
  title: string;
  body: Html;
}

export interface Guide {
  title: string;
  /** The content of the guide, in one sentence. */
  lead: string;
  sections: Section[];
}

/** HTML within Markdown is shown as text. */
const markdown = new MarkdownIt();

export const inline = (text: string) => new Html(markdown.renderInline(text));

/** The first cell of a row is its header. A heading such as `not_found` 404 is of an error, and a target of links. */
export function prose(text: string): Html {
  const markup = markdown
    .render(text)
    .replaceAll('<th>', '<th scope="col">')
    .replace(/<tr>\n<td>(.*?)<\/td>/g, '<tr>\n<th scope="row">$1</th>')
    .replace(
      /<h3>(<code>(\w+)<\/code>) ((\d)\d\d)<\/h3>/g,
      '<h3 id="$2">$1 <span class="status status-$4">$3</span></h3>',
    );
  return new Html(markup);
}

/**
 * Reads a guide: a title, a sentence, and sections as `## Title {#id}`. A block of code begins with its language and its
 * name. Adjacent blocks that are named `Name: Choice` become one with a choice of the language.
 */
export function readGuide(text: string): Guide {
  const [start = '', ...parts] = text.split(/^## /m);
  const [title = '', lead = ''] = start.replace(/^# /, '').trim().split('\n\n');
  const sections = parts.map((part) => {
    const [, name = '', id = '', body = ''] = /^(.*) \{#(.+)\}\n([\s\S]*)$/.exec(part) ?? [];
    // Every second part is blocks of code.
    const [first, ...rest] = body.split(/((?:^```[\s\S]*?^```\n\s*)+)/m);
    return {
      id,
      title: name,
      body: html`${prose(first ?? '')}${rest.map((each, at) => (at % 2 === 0 ? code(each, `${id}-code`) : prose(each)))}`,
    };
  });
  return { title, lead, sections };
}

function code(text: string, id: string): Html {
  const blocks = [...text.matchAll(/^```(\w+) (.*)\n([\s\S]*?)\n```$/gm)].map(
    ([, language, name = '', block = '']) => {
      const [title = '', label = title] = name.split(': ');
      return { title, code: { label, language: language as Language, text: block } };
    },
  );
  const [first] = blocks;
  if (!first) throw new Error(`a block of code without a language and a name: ${text}`);
  if (blocks.length === 1) return codeBlock(first.code);
  return codeChoice(
    id,
    first.title,
    blocks.map((block) => block.code),
    'language',
  );
}
