import type { Entry } from '../search.js';
import type { Contract } from './openapi.js';
import type { ReferencePage } from './reference.js';
import { schemaUrl } from './schema-fields.js';

const ERROR = /<h3 id="(\w+)">.*?>(\d+)<\/span><\/h3>\n<p>(.*?)<\/p>/g;

/** Every page, section, parameter, error code, header and schema of the reference. */
export function searchIndex(pages: readonly ReferencePage[], { components, operations }: Contract): Entry[] {
  const ofPages = pages.flatMap(({ path, title: page, group, operation, sections }) => {
    const words =
      operation && `${operation.method} ${operation.path} ${operation.operationId} ${operation.description}`;
    const ofSections = sections.map(({ id, title, body }) => ({
      title,
      page,
      url: `${path}#${id}`,
      text: textOf(body.markup),
    }));
    return [{ title: page, page: group, url: path, text: words ?? '' }, ...ofSections];
  });
  const parameters = operations.flatMap(({ operationId, summary, parameters: all = [] }) =>
    all.map(({ name, description }) => ({
      title: name,
      page: summary,
      url: `/v1/docs/${operationId}#parameters`,
      text: description,
    })),
  );
  const schemas = Object.entries(components.schemas).map(([name, { description = '', properties = {} }]) => ({
    title: name,
    page: 'Objects',
    url: schemaUrl(name),
    text: [description, ...Object.keys(properties)].join(' '),
  }));
  const codes = pages.flatMap(({ path, sections }) =>
    sections
      .flatMap(({ body }) => [...body.markup.matchAll(ERROR)])
      .map(([, code = '', status, meaning = '']) => ({
        title: code,
        page: `Error ${status}`,
        url: `${path}#${code}`,
        text: textOf(meaning),
      })),
  );
  const headers = Object.entries(components.headers).map(([name, { description }]) => {
    const first = operations.find(({ responses }) =>
      Object.values(responses).some((each) => name in each.headers),
    );
    return {
      title: name,
      page: 'Response header',
      url: `/v1/docs/${first?.operationId}#headers`,
      text: description,
    };
  });
  return [...ofPages, ...parameters, ...schemas, ...codes, ...headers];
}

/** The text of markup, without its elements. */
function textOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/&[#\w]+;/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
