import {
  type DocumentedOperation,
  queryParameters,
  type RestDocument,
  readAnswers,
} from '../../doors/rest/rest-document.js';
import type { ObjectSchema } from '../../ground/kernel/validation.js';
import { capitalized } from '../../noun-words.js';
import { type OwnNames, REPLAYED } from '../../request/http/headers.js';
import type { ModelField, NounModel } from '../definition/model.js';
import type { Relation } from '../definition/relations.js';
import { newSchemaOf, schemasOf } from '../records/schemas.js';
import { actionDocument } from './action.document.js';
import type { RecordReads } from './noun.routes.js';
import { problemsOf, recordDocument, valuesOf } from './record.document.js';
import { trashDocument } from './trash.document.js';

/** The operations of a noun as the OpenAPI document shows them. The examples are those of its fields. */
export function documentOf(
  model: NounModel,
  { hasOne, hasLocation }: RecordReads,
  names: OwnNames,
  relations: readonly Relation[] = [],
): RestDocument {
  const { singular, plural, type, withArticle, hasChanges } = model.description;
  const schemas = schemasOf(model, names.changesCursor);
  const newSchema = newSchemaOf(model);
  const { page } = model;
  const required = (fields: readonly ModelField[]) => valuesOf(fields.filter(({ isRequired }) => isRequired));
  const computed = model.computed.map(({ field }) => field);
  const one = { id: 4711, ...valuesOf(model.shown) };
  const another = {
    id: 4712,
    ...defaultsOf(model.shown),
    ...required(model.shown),
    ...valuesOf(computed),
  };
  const ofChanges = hasChanges ? changesDocument(model, one, names) : null;
  const ofRecord = hasOne ? recordDocument(model, names, relations) : null;
  const ofTrash = model.hasTrash ? trashDocument(model, names) : null;
  const ofActions = actionDocument(model, names);
  const path = `/${plural}`;
  return {
    summary: `Browse and manage ${plural}.`,
    tag: { name: plural, description: `${page} of the project that the API key belongs to.` },
    paths: {
      [path]: {
        get: listOperation(model, schemas.listQuery, names),
        post: createOperation(model, hasLocation, names),
      },
      ...ofChanges?.paths,
      ...ofRecord?.paths,
      ...ofTrash?.paths,
      ...ofActions.paths,
    },
    schemas: {
      [`New${type}`]: { description: `${capitalized(withArticle)} to create.`, ...newSchema },
      [type]: schemas.record,
      [page]: {
        type: 'array',
        description: `A page of ${plural}.`,
        items: { $ref: `#/components/schemas/${type}` },
      },
      ...ofRecord?.schemas,
      ...ofActions.schemas,
      ...ofChanges?.schemas,
      ...ofTrash?.schemas,
    },
    examples: {
      [`New${type}`]: {
        whole: { summary: 'With every field', value: valuesOf(model.fields) },
        smallest: { summary: 'With the required fields only', value: required(model.fields) },
      },
      [type]: { whole: { summary: capitalized(withArticle), value: one } },
      [page]: {
        page: {
          summary: `A page of two ${plural}`,
          value: [one, another],
        },
        empty: { summary: `No ${singular} matches`, value: [] },
      },
      ...ofRecord?.examples,
      ...ofActions.examples,
      ...ofChanges?.examples,
      ...ofTrash?.examples,
    },
    refusals: {
      [`list${page}`]: { invalid_request: problemsOf(schemas.listQuery, [], '') },
      [`create${type}`]: {
        invalid_request: problemsOf(newSchema, [], undefined),
        forbidden: `This API key lacks the scope ${plural}:write. Use a key that has it.`,
      },
      ...ofRecord?.refusals,
      ...ofActions.refusals,
      ...ofChanges?.refusals,
      ...ofTrash?.refusals,
    },
  };
}

function listOperation(
  { page, description, rangeFilters, orders }: NounModel,
  query: ObjectSchema,
  names: OwnNames,
): DocumentedOperation {
  const { singular, plural, hasChanges } = description;
  const ordering = [
    ...(orders.length > 0 ? ['`sort`'] : []),
    ...(rangeFilters.length > 0 ? ['a range'] : []),
  ];
  const unless = ordering.length > 0 ? ` unless ${ordering.join(' or ')} says otherwise` : '';
  const news = hasChanges ? `; new ${plural} are in \`GET /v1/${plural}/changes\`` : '';
  return {
    operationId: `list${page}`,
    summary: `List all ${plural}`,
    description: `A page of ${plural}, oldest first${unless}. The \`Link\` header has the URL of the next page. [Pages](/v1/docs/pagination#changes) have each ${singular} that existed before the first one exactly once${news}.`,
    scope: `${plural}:read`,
    parameters: queryParameters(query),
    answers: readAnswers(names, page, `A page of ${plural}.`, 'this page', [
      'Link',
      ...(hasChanges ? [names.changesCursor] : []),
    ]),
  };
}

function createOperation(
  { description }: NounModel,
  hasLocation: boolean,
  names: OwnNames,
): DocumentedOperation {
  const { singular, plural, type, withArticle } = description;
  return {
    operationId: `create${type}`,
    summary: `Add ${withArticle}`,
    description: `With an \`Idempotency-Key\` the request can be repeated when its answer got lost: only the first one creates ${withArticle}.`,
    scope: `${plural}:write`,
    parameters: [],
    writes: { verb: 'creates', schema: `New${type}` },
    answers: {
      201: {
        description: `The created ${singular} with its assigned \`id\`.`,
        headers: [...(hasLocation ? ['Location'] : []), REPLAYED, names.ignoredParameters],
        schema: type,
      },
    },
  };
}

function changesDocument(model: NounModel, one: object, names: OwnNames) {
  const { singular, plural, type, withArticle } = model.description;
  const { changes, changesQuery } = schemasOf(model, names.changesCursor);
  const operationId = `list${type}Changes`;
  const operation: DocumentedOperation = {
    operationId,
    summary: `List changes of ${plural}`,
    description: `Changes of ${plural} in the order of their commits, each once, from the oldest that is kept. The \`Link\` header always has the URL of the next changes: request it again later. An operator switches the change log on. To follow a list, begin with its \`${names.changesCursor}\`; after \`gone\` list again.`,
    isBeta: true,
    scope: `${plural}:read`,
    parameters: queryParameters(changesQuery),
    answers: readAnswers(names, `${type}Changes`, 'The next changes, perhaps none.', 'these changes', [
      'Link',
    ]),
    errors: ['conflict', 'gone'],
  };
  const { items } = changes;
  const change = {
    cursor: 'Yzo0Mi4xNzY0ODkyODAwMDAw',
    kind: 'updated',
    at: '2025-12-05T00:00:00.000Z',
    [singular]: one,
  };
  return {
    paths: { [`/${plural}/changes`]: { get: operation } },
    schemas: {
      [`${type}Change`]: {
        ...items,
        properties: { ...items.properties, [singular]: { $ref: `#/components/schemas/${type}` } },
      },
      [`${type}Changes`]: { ...changes, items: { $ref: `#/components/schemas/${type}Change` } },
    },
    examples: {
      [`${type}Changes`]: {
        page: { summary: `${capitalized(withArticle)} that was changed`, value: [change] },
        empty: { summary: 'Nothing new', value: [] },
      },
    },
    refusals: {
      [operationId]: {
        invalid_request: problemsOf(changesQuery, ['limit', 'cursor'], ''),
        conflict:
          'The change log of this project is off. An operator can switch it on: petstore projects set <slug> --changes on.',
        gone: 'The change log does not reach back to this cursor. List again, then follow from the changesCursor of that list.',
      },
    },
  };
}

function defaultsOf(fields: readonly ModelField[]): object {
  return Object.fromEntries(
    fields.flatMap(({ name, options: { default: value } }) =>
      value === undefined ? [] : [[name, typeof value === 'bigint' ? Number(value) : value]],
    ),
  );
}
