import { type Html, html } from './html.js';
import { nameOfRef, type Schema } from './openapi-parts.js';

/** What a value must be, in one line. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref) {
    const name = nameOfRef(schema.$ref);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const options = schema.oneOf ?? schema.anyOf ?? schema.allOf;
  if (options) {
    const word = schema.allOf ? ' and ' : ' or ';
    return html`${options.map((option, index) => [index > 0 && word, typeOf(option)])}`;
  }
  if (schema.items) return html`array of ${typeOf(schema.items)}`;
  const types = [schema.type ?? 'any value'].flat().join(' or ');
  return html`${types}${schema.format !== undefined && ` (${schema.format})`}`;
}

/** The fields of an object, of the objects in it, and of those that an array holds. */
export function fieldsOf(schema: Schema): Html | null {
  const { properties, required = [], items } = schema;
  if (!properties) return items ? fieldsOf(items) : null;
  return html`<dl>
${Object.entries(properties).map(([name, property]) => describe(name, property, required.includes(name)))}</dl>`;
}

/** A named value as an entry of a `dl`. */
export function describe(name: string, schema: Schema, isRequired: boolean): Html {
  return html`<dt><code>${name}</code> <span class="quiet">${typeOf(schema)}${isRequired && ', required'}${
    schema.deprecated === true && ', deprecated'
  }</span></dt>
<dd>${prose(schema.description)}${rulesOf(schema)}${fieldsOf(schema)}</dd>
`;
}

/** Text with code between backticks, and a paragraph for each blank line, as descriptions are written. */
export function prose(text: string | undefined): Html | null {
  if (text === undefined) return null;
  const inline = (paragraph: string) =>
    paragraph.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
  return html`${text.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`;
}

function rulesOf(schema: Schema): Html | null {
  const bounds: [string, unknown][] = [
    ['at least', schema.minimum],
    ['at most', schema.maximum],
    ['characters, at least', schema.minLength],
    ['characters, at most', schema.maxLength],
    ['items, at least', schema.minItems],
    ['items, at most', schema.maxItems],
    ['matches', schema.pattern],
    ['always', schema.const],
    ['by default', schema.default],
    ['for example', schema.examples?.[0]],
  ];
  const rules = bounds
    .filter(([, value]) => value !== undefined)
    .map(([words, value], index) => [index > 0 && ' · ', words, ' ', html`<code>${shown(value)}</code>`]);
  const choices = schema.enum?.map((value, index) => [index > 0 && ', ', html`<code>${shown(value)}</code>`]);
  if (!choices && rules.length === 0) return null;
  return html`<p class="quiet">${choices !== undefined && ['one of ', choices, rules.length > 0 && ' · ']}${rules}</p>`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
