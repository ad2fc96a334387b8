import type { SearchEntry } from '../../shown/search-entry.js';
import type { ReferencePage } from './reference.js';

const NAMED = /^<h\d(?: id="([^"]+)")?>(.*?)<\/h\d>|^<dt><code>(.*?)<\/code>/;

/** Every page, heading, parameter, header and field of the reference; of those with the same name the first. */
export function searchIndex(pages: readonly ReferencePage[]): SearchEntry[] {
  const known = new Set<string>();
  return pages.flatMap(({ path, title, group, body }) => {
    let url = path;
    const parts = body('').markup.split(/(?=<h[123]|<dt><code>)/);
    return parts.flatMap((part): SearchEntry[] => {
      const [found, id, heading = '', name] = NAMED.exec(part) ?? [];
      // The samples and answers beside the text belong to no heading.
      const [own = ''] = part.split(/<\/dl>|<div class="shown">/);
      if (found === undefined || (name !== undefined && known.has(name))) return [];
      if (name !== undefined) known.add(name);
      if (id !== undefined) url = `${path}#${id}`;
      const text = textOf(own);
      if (found.startsWith('<h1')) return [{ title, page: group, url, text: `${text} ${path}` }];
      return [{ title: textOf(name ?? heading), page: title, url, text }];
    });
  });
}

/** The text of markup, without its elements. */
function textOf(markup: string): string {
  return markup
    .replace(/<[^>]*>|&[#\w]+;/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
