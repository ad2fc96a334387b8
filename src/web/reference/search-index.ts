import { ERRORS } from '../../kernel/errors.js';
import type { Html } from '../pages/html.js';
import { type LocatedOperation, type OpenApi, operationsOf } from './parts/openapi-parts.js';
import { schemaUrl } from './parts/schema-fields.js';
import { pageUrl, type ReferencePage } from './reference-pages.js';

/** An entry that a search of the reference can find. */
interface SearchEntry {
  title: string;
  /** The page of the title. */
  page: string;
  url: string;
  /** Further words that find the entry. */
  text: string;
}

/** Every page, section, parameter, error code, header and schema of the reference. */
export function searchIndex(pages: readonly ReferencePage[], document: OpenApi): SearchEntry[] {
  const ofPages = pages.flatMap((page) => {
    const url = pageUrl(page);
    const sections = page.sections.map(({ id, title, body }) => ({
      title,
      page: page.title,
      url: `${url}#${id}`,
      text: textOf(body),
    }));
    return [{ title: page.title, page: page.group, url, text: wordsOf(page.operation) }, ...sections];
  });
  const parameters = operationsOf(document).flatMap(({ operationId, summary, parameters: all = [] }) =>
    all.map(({ name, description = '' }) => ({
      title: name,
      page: summary,
      url: `/v1/docs/${operationId}#parameters`,
      text: description,
    })),
  );
  const codes = Object.entries(ERRORS).map(([code, { status, when }]) => ({
    title: code,
    page: `Error ${status}`,
    url: `/v1/docs/errors#${code}`,
    text: when,
  }));
  const schemas = Object.entries(document.components.schemas).map(
    ([name, { description = '', properties }]) => ({
      title: name,
      page: 'Objects',
      url: schemaUrl(name),
      text: [description, ...Object.keys(properties ?? {})].join(' '),
    }),
  );
  const headers = Object.entries(document.components.headers).map(([name, { description = '' }]) => ({
    title: name,
    page: 'Response header',
    url: `/v1/docs/${operationWith(document, name)}#headers`,
    text: description,
  }));
  return [...ofPages, ...parameters, ...schemas, ...codes, ...headers];
}

function wordsOf(operation: LocatedOperation | undefined): string {
  if (!operation) return '';
  const { method, path, operationId, description = '' } = operation;
  return [method, path, operationId, description].join(' ');
}

/** The first operation with this response header. */
function operationWith(document: OpenApi, header: string): string {
  const has = ({ responses }: LocatedOperation) =>
    Object.values(responses).some(({ headers = {} }) => header in headers);
  return operationsOf(document).find(has)?.operationId ?? '';
}

/** The text of markup, without its elements. */
function textOf({ markup }: Html): string {
  return markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/&[#\w]+;/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
