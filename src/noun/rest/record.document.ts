import { type DocumentedOperation, type RestDocument, readAnswers } from '../../doors/rest/rest-document.js';
import type { FieldProblem } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import type { ObjectSchema } from '../../ground/kernel/validation.js';
import { MERGE_PATCH } from '../../request/http/content/json-body.js';
import { type OwnNames, REPLAYED } from '../../request/http/headers.js';
import type { ModelField, NounModel } from '../definition/model.js';
import { inUse, MOST_REFERRING, type Relation } from '../definition/relations.js';
import { jsonOf } from '../kinds/kind.js';
import { patchSchemaOf } from '../records/schemas.js';

/** The operations of one record as the OpenAPI document shows them. */
export function recordDocument(
  model: NounModel,
  names: OwnNames,
  relations: readonly Relation[],
): Pick<RestDocument, 'paths' | 'schemas' | 'examples' | 'refusals'> {
  const referring = relations.filter(
    ({ to, reference }) => to.plural === model.description.plural && reference.onDelete !== 'allow',
  );
  const conflict = conflictOf(referring);
  const { singular, plural, type, withArticle } = model.description;
  const patch = `${type}Patch`;
  const patchSchema = patchSchemaOf(model);
  const changeable = model.fields.filter(({ name }) => name in patchSchema.properties);
  const changed = changeable.find(({ kind }) => kind.choices) ?? changeable[0];
  const forbidden = `This API key lacks the scope ${plural}:write. Use a key that has it.`;
  return {
    paths: {
      [`/${plural}/{${singular}Id}`]: {
        get: getOperation(model, names),
        patch: patchOperation(model, patch, names),
        delete: deleteOperation(model, names, referring),
      },
    },
    schemas: {
      [patch]: {
        description: `Changes to ${withArticle}: a field left out stays as it is. At least one is required.`,
        minProperties: 1,
        ...patchSchema,
      },
    },
    examples: {
      [patch]: { one: { summary: 'One field', value: valuesOf(changed ? [changed] : []) } },
    },
    refusals: {
      [`update${type}`]: { invalid_request: problemsOf(patchSchema, [], ''), forbidden },
      [`delete${type}`]: { forbidden, ...(conflict && { conflict }) },
    },
  };
}

/** Reading one record by its id, also for a noun that has an own form of it. */
export function getOperation({ description }: NounModel, names: OwnNames): DocumentedOperation {
  const { singular, plural, type, withArticle } = description;
  return {
    operationId: `get${type}`,
    summary: `Get ${withArticle}`,
    description: `The ${singular} of the project with this identifier.`,
    scope: `${plural}:read`,
    parameters: [idParameter(singular)],
    answers: readAnswers(names, type, `The ${singular}.`, `this ${singular}`),
    errors: ['not_found'],
  };
}

/** Of the record before the change. */
export const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The `ETag` of the record as you know it. If somebody changed it meanwhile, the answer is `precondition_failed`, and nothing is changed.',
  schema: { type: 'string', examples: ['"1Q0vXh3mR2k8n5b7c9d0e1f2g3h"'] },
};

function patchOperation({ description }: NounModel, patch: string, names: OwnNames): DocumentedOperation {
  const { singular, plural, type, withArticle } = description;
  return {
    operationId: `update${type}`,
    summary: `Change ${withArticle}`,
    description: `Changes the fields of the body, and no other (RFC 7396). Null removes an optional value. With an \`Idempotency-Key\` a repeated request changes nothing.`,
    scope: [`${plural}:read`, `${plural}:write`],
    parameters: [idParameter(singular), IF_MATCH],
    writes: { verb: 'changes', schema: patch, mediaType: MERGE_PATCH },
    answers: {
      200: {
        description: `The changed ${singular}.`,
        headers: ['ETag', REPLAYED, names.ignoredParameters],
        schema: type,
      },
    },
    errors: ['not_found', 'precondition_failed'],
  };
}

function deleteOperation(
  { description, hasTrash }: NounModel,
  names: OwnNames,
  referring: readonly Relation[],
): DocumentedOperation {
  const { singular, plural, type, withArticle } = description;
  return {
    operationId: `delete${type}`,
    summary: `Delete ${withArticle}`,
    description: `Deletes the ${singular}${hasTrash ? '; it can be restored for 30 days' : ' for good'}. With an \`Idempotency-Key\` a repeated request answers as the first one did; without one it is \`not_found\`.${referring.map(effectOf).join('')}`,
    scope: `${plural}:write`,
    parameters: [idParameter(singular), IF_MATCH],
    writes: { verb: 'deletes' },
    answers: {
      204: { description: `The ${singular} is deleted.`, headers: [REPLAYED, names.ignoredParameters] },
    },
    errors: ['not_found', 'precondition_failed'],
  };
}

/** A sentence about records that refer to a deleted one. */
function effectOf({ from, field, reference, to }: Relation): string {
  const { singular, plural, withArticle } = from;
  const who = from.plural === to.plural ? `another ${singular}` : withArticle;
  if (reference.onDelete === 'refuse')
    return ` While ${who} refers to the ${to.singular} with \`${field.name}\`, the answer is \`conflict\`, and nothing is changed.`;
  const most = MOST_REFERRING.toLocaleString('en');
  return ` The ${plural} that refer to the ${to.singular} lose their \`${field.name}\`: if there are more than ${most}, or a ${singular} would not be valid, the answer is \`conflict\`, and nothing is changed.`;
}

/** The message of a refused deletion; null = no deletion is refused. */
function conflictOf(referring: readonly Relation[]): string | null {
  const one = referring.find(({ reference }) => reference.onDelete === 'refuse') ?? referring[0];
  return one ? inUse(one, one.reference.onDelete === 'refuse' ? 2 : MOST_REFERRING + 1) : null;
}

export const idParameter = (singular: string) => ({
  name: `${singular}Id`,
  in: 'path',
  required: true,
  description: `The identifier of the ${singular}.`,
  schema: { type: 'integer', format: 'int64', examples: [4711] },
});

/** The examples of fields, as JSON has them. */
export function valuesOf(fields: readonly ModelField[]): Record<string, unknown> {
  return Object.fromEntries(fields.map(({ name, kind, example }) => [name, jsonOf(kind, example)]));
}

/** The problems of a request of which two fields have the wrong value `sent`. */
export function problemsOf(
  { properties }: ObjectSchema,
  wanted: readonly string[],
  sent: string | undefined,
): FieldProblem[] {
  return Object.entries(properties)
    .filter(([field]) => wanted.length === 0 || wanted.includes(field))
    .slice(0, 2)
    .map(([field, { rule }]) => ({ field, message: got(rule, sent) }));
}
