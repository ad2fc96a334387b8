import { queryParameters, type RestDocument, readAnswers } from '../../doors/rest/rest-document.js';
import { type ObjectSchema, pageSizeSchema } from '../../ground/kernel/validation.js';
import { capitalized } from '../../noun-words.js';
import { type OwnNames, REPLAYED } from '../../request/http/headers.js';
import type { NounModel } from '../definition/model.js';
import { schemasOf } from '../records/schemas.js';
import { RESTORABLE_DAYS } from '../tables/noun-trash.js';
import { idParameter, problemsOf, valuesOf } from './record.document.js';

/** The bodies of the deleted records, and the query of their list. */
export function trashSchemasOf(model: NounModel) {
  const { singular, plural } = model.description;
  const { record, listQuery } = schemasOf(model);
  const time = { type: 'string', format: 'date-time' } as const;
  const restorable = {
    type: 'object',
    description: `A deleted ${singular} that can be restored.`,
    required: ['deletedAt', 'restorableUntil', singular],
    properties: {
      deletedAt: { ...time, description: 'When it was deleted.' },
      restorableUntil: {
        ...time,
        description: 'It can be restored before this time, and is deleted for good then.',
      },
      [singular]: record,
    },
  } as const;
  const { cursor } = listQuery.properties;
  return {
    record,
    restorable,
    restorables: { type: 'array', description: `A page of deleted ${plural}.`, items: restorable } as const,
    query: { type: 'object', properties: { limit: pageSizeSchema(plural), cursor } } as ObjectSchema,
  };
}

/** The operations on the deleted records of a noun as the OpenAPI document shows them. */
export function trashDocument(
  model: NounModel,
  names: OwnNames,
): Pick<RestDocument, 'paths' | 'schemas' | 'examples' | 'refusals'> {
  const { page } = model;
  const { singular, plural, type, withArticle } = model.description;
  const { restorable, restorables, query } = trashSchemasOf(model);
  const one = {
    deletedAt: '2025-12-05T00:00:00.000Z',
    restorableUntil: '2026-01-04T00:00:00.000Z',
    [singular]: { id: 4711, ...valuesOf(model.shown) },
  };
  return {
    paths: {
      [`/${plural}/deleted`]: {
        get: {
          operationId: `listDeleted${page}`,
          summary: `List deleted ${plural}`,
          description: `The ${plural} that were deleted in the last ${RESTORABLE_DAYS} days, the last deleted one first.`,
          scope: `${plural}:read`,
          parameters: queryParameters(query),
          answers: readAnswers(names, `Restorable${page}`, `A page of deleted ${plural}.`, 'this page', [
            'Link',
          ]),
        },
      },
      [`/${plural}/{${singular}Id}/restore`]: {
        post: {
          operationId: `restore${type}`,
          summary: `Restore ${withArticle}`,
          description: `Restores a deleted ${singular} with its \`id\`. With an \`Idempotency-Key\` a repeated request answers as the first one did.`,
          scope: [`${plural}:read`, `${plural}:write`],
          parameters: [idParameter(singular)],
          writes: { verb: 'creates' },
          answers: {
            200: {
              description: `The restored ${singular}.`,
              headers: [REPLAYED, names.ignoredParameters],
              schema: type,
            },
          },
          errors: ['not_found'],
        },
      },
    },
    schemas: {
      [`Restorable${type}`]: {
        ...restorable,
        properties: { ...restorable.properties, [singular]: { $ref: `#/components/schemas/${type}` } },
      },
      [`Restorable${page}`]: { ...restorables, items: { $ref: `#/components/schemas/Restorable${type}` } },
    },
    examples: {
      [`Restorable${page}`]: {
        page: { summary: `${capitalized(withArticle)} that was deleted`, value: [one] },
        empty: { summary: 'Nothing was deleted', value: [] },
      },
    },
    refusals: {
      [`listDeleted${page}`]: { invalid_request: problemsOf(query, [], '') },
      [`restore${type}`]: {
        forbidden: `This API key lacks the scope ${plural}:write. Use a key that has it.`,
      },
    },
  };
}
