import { stringify } from 'lossless-json';
import { type Html, html } from '../markup/html.js';
import { nameOfRef, type Schema } from './contract.js';
import { inline, prose } from './markdown.js';

/** Where the reference describes a schema of the document. */
const schemaUrl = (name: string) => `/v1/docs/objects#${name}`;

/** The type of a value, in one line. */
export function typeOf({ $ref, items, enum: words, type = 'any value', format }: Schema): Html {
  if ($ref !== undefined) return html`<a href="${schemaUrl(nameOfRef($ref))}">${nameOfRef($ref)}</a>`;
  if (items) return html`array of ${typeOf(items)}`;
  if (words) return html`one of ${words.length} words`;
  return html`${[type].flat().join(' or ')}${format !== undefined && `, ${format}`}`;
}

/** The fields of an object, of its nested objects, and of the objects in an array. */
export function fieldsOf({ properties, required = [], items }: Schema): Html | null {
  if (!properties) return items ? fieldsOf(items) : null;
  return html`<dl class="fields">
${Object.entries(properties).map(([name, property]) => describe(name, property, required.includes(name)))}</dl>`;
}

/** A named value as an entry of a `dl`. */
export function describe(name: string, schema: Schema, isRequired: boolean, place?: string): Html {
  const type = html`${typeOf(schema)}${place !== undefined && `, ${place}`}`;
  return html`<div class="field-row"><dt><code>${name}</code> <span class="hint">${type}</span>${isRequired && html` <span class="required">required</span>`}</dt>
<dd>${prose(schema.description ?? '')}${rulesOf(schema)}${fieldsOf(schema)}</dd></div>
`;
}

/** The constraints of a value in words. A pattern is in none of them: the description says what it means. */
function rulesOf({ minimum, maximum, minLength, maxLength, enum: words, ...schema }: Schema): Html | null {
  const value = (label: string, known: unknown) =>
    known !== undefined && inline(`${label} \`${shown(known)}\``);
  const rules = [
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    value('Default:', schema.default),
    value('Example:', schema.examples?.[0]),
  ].filter((rule) => rule !== false);
  return html`${words && html`<p class="chips">${words.map((word) => html`<code class="chip">${shown(word)}</code> `)}</p>`}${
    rules.length > 0 && html`<p class="hint rules">${rules.map((rule) => html`<span>${rule}</span> `)}</p>`
  }`;
}

function range(from: bigint | undefined, to: bigint | undefined, unit: string): string | false {
  if (from === undefined) return to !== undefined && `At most ${to}${unit}`;
  return to === undefined ? `At least ${from}${unit}` : `${from} to ${to}${unit}`;
}

const shown = (value: unknown) => (typeof value === 'string' ? value : stringify(value));
