import type { GatewayBlock } from '../../../../noun-words.js';

/** Markup that is safe to show. Only `html` and the renderer of Markdown create it, so that plain text is never used as markup. */
export class Html {
  constructor(readonly markup: string) {}
}

type Value = Html | string | number | bigint | null | undefined | false | readonly Value[];

/** Markup with values in it: text is escaped everywhere; null, undefined and false add nothing. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(markupOf)));
}

/** A block of data for a script of the page: it does not run, and can't end its element. */
export function dataBlock(id: string, data: unknown): Html {
  const json = JSON.stringify(data).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  return html`<script type="application/json" id="${id}">${new Html(json)}</script>`;
}

/** The data of this gateway, for the scripts of the page. `browser/gateway.ts` reads it. */
export const gatewayBlock = ({ name, nouns, icon }: GatewayBlock) =>
  dataBlock('gateway', { name, nouns, ...(icon ? { icon } : {}) });

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  // An HTML parser drops it, which could join the text on both sides.
  '\0': '\uFFFD',
};

function markupOf(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(markupOf).join('');
  return String(value).replace(/[&<>"'`\0]/g, (sign) => ENTITIES[sign] ?? '');
}
