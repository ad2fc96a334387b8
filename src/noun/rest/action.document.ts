import type { DocumentedOperation, RestDocument } from '../../doors/rest/rest-document.js';
import { withoutStop } from '../../noun-words.js';
import { type OwnNames, REPLAYED } from '../../request/http/headers.js';
import type { ModelAction, NounModel } from '../definition/model.js';
import { newSchemaOf } from '../records/schemas.js';
import { IF_MATCH, idParameter, problemsOf, valuesOf } from './record.document.js';

/** The operations of a noun's actions as the OpenAPI document shows them. */
export function actionDocument(
  model: NounModel,
  names: OwnNames,
): Pick<RestDocument, 'paths' | 'schemas' | 'examples' | 'refusals'> {
  const { actions, description } = model;
  const { singular, plural } = description;
  const withInput = actions.filter(({ fields }) => fields.length > 0);
  const ofEach = <T>(of: (action: ModelAction) => [string, T], some = actions) =>
    Object.fromEntries(some.map(of));
  return {
    paths: ofEach((action) => [
      `/${plural}/{${singular}Id}/${action.name}`,
      { post: actOperation(model, action, names) },
    ]),
    schemas: ofEach((action) => {
      const described = { description: `The input of \`${action.operation}\`.`, ...newSchemaOf(action) };
      return [action.inputType, described];
    }, withInput),
    examples: ofEach(({ inputType, fields }) => {
      const whole = { summary: 'With every field', value: valuesOf(fields) };
      return [inputType, { whole }];
    }, withInput),
    refusals: ofEach((action) => {
      const forbidden = `This API key lacks the scope ${plural}:${action.name}. Use a key that has it.`;
      const invalid_request = problemsOf(newSchemaOf(action), [], '');
      return [action.operation, { forbidden, ...(action.fields.length > 0 && { invalid_request }) }];
    }),
  };
}

function actOperation({ description }: NounModel, action: ModelAction, names: OwnNames): DocumentedOperation {
  const { singular, plural, type } = description;
  const headers = [REPLAYED, names.ignoredParameters];
  return {
    operationId: action.operation,
    summary: withoutStop(action.description),
    description: `${action.description} An action that is not possible now is a \`conflict\`, and nothing is changed. With an \`Idempotency-Key\` a repeated request does nothing.`,
    scope: `${plural}:${action.name}`,
    parameters: [idParameter(singular), IF_MATCH],
    writes: { verb: 'changes', ...(action.fields.length > 0 && { schema: action.inputType }) },
    answers: {
      200: { description: `The changed ${singular}.`, headers: ['ETag', ...headers], schema: type },
      204: { description: `It is done. The key lacks the scope ${plural}:read.`, headers },
    },
    errors: ['not_found', 'precondition_failed'],
  };
}
