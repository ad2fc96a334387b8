/** Markup that is safe to send. Made by `html` only, so that text can't be taken for it. */
export class Html {
  constructor(readonly markup: string) {}
}

type Value = Html | string | number | null | false | readonly Value[];

/** Markup with values in it: text is escaped wherever it stands; null and false leave nothing. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(markupOf)));
}

/** A block of data for a script of the page: not run, and unable to end its element. */
export function dataBlock(id: string, data: unknown): Html {
  const json = JSON.stringify(data).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  return html`<script type="application/json" id="${id}">${new Html(json)}</script>`;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  // A parser of HTML drops it, which could join what it stood between.
  '\0': '\uFFFD',
};

function markupOf(value: Value): string {
  if (value === null || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(markupOf).join('');
  return String(value).replace(/[&<>"'`\0]/g, (sign) => ENTITIES[sign] ?? '');
}
