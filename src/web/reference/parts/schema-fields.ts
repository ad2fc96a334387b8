import { type Html, html } from '../../pages/html.js';
import { nameOfRef, type Schema } from './openapi-parts.js';

/** Where the reference describes a schema of the document. */
export function schemaUrl(name: string): string {
  return `/v1/docs/objects#${name}`;
}

/** The type of a value, in one line. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref) {
    const name = nameOfRef(schema.$ref);
    return html`<a href="${schemaUrl(name)}">${name}</a>`;
  }
  const options = schema.oneOf ?? schema.anyOf ?? schema.allOf;
  if (options) {
    const word = schema.allOf ? ' and ' : ' or ';
    return html`${options.map((option, index) => [index > 0 && word, typeOf(option)])}`;
  }
  if (schema.items) return html`array of ${typeOf(schema.items)}`;
  if (schema.enum) return html`one of ${schema.enum.length} words`;
  const types = [schema.type ?? 'any value'].flat().join(' or ');
  return html`${types}${schema.format !== undefined && `, ${schema.format}`}`;
}

/** The fields of an object, of its nested objects, and of the objects in an array. */
export function fieldsOf(schema: Schema): Html | null {
  const { properties, required = [], items } = schema;
  if (!properties) return items ? fieldsOf(items) : null;
  return html`<dl class="fields">
${Object.entries(properties).map(([name, property]) => describe(name, property, required.includes(name)))}</dl>`;
}

/** A named value as an entry of a `dl`. */
export function describe(name: string, schema: Schema, isRequired: boolean, place?: string): Html {
  return html`<div class="field-row"><dt><code>${name}</code> <span class="field-type">${typeOf(schema)}${
    place !== undefined && `, in the ${place}`
  }</span>${isRequired && html` <span class="field-required">required</span>`}${
    schema.deprecated === true && html` <span class="badge badge-warn">deprecated</span>`
  }</dt>
<dd>${prose(schema.description)}${rulesOf(schema)}${fieldsOf(schema)}</dd></div>
`;
}

/** Text as descriptions are written: code between backticks, paragraphs separated by blank lines. */
export function prose(text: string | undefined): Html | null {
  if (text === undefined) return null;
  return html`${text.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`;
}

/** A text with code between backticks. */
export function inline(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/** The constraints of a value in words. A pattern is in none of them: the description says what it means. */
function rulesOf(schema: Schema): Html | null {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const value = (words: string, known: unknown) =>
    known === undefined ? null : html`${words} <code>${shown(known)}</code>`;
  const rules = [
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
    value('Always', schema.const),
    value('Default:', schema.default),
    value('Example:', schema.examples?.[0]),
  ].filter((rule) => rule !== null);
  const choices = schema.enum?.map((choice) => html`<li><code>${shown(choice)}</code></li>`);
  if (!choices && rules.length === 0) return null;
  return html`${choices !== undefined && html`<ul class="choices">${choices}</ul>`}${
    rules.length > 0 && html`<p class="field-rules">${rules.map((rule) => html`<span>${rule}</span> `)}</p>`
  }`;
}

function range(from: number | undefined, to: number | undefined, unit: string): Html | null {
  if (from === undefined && to === undefined) return null;
  if (to === undefined) return html`At least ${from ?? 0}${unit}`;
  return from === undefined ? html`At most ${to}${unit}` : html`${from} to ${to}${unit}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
