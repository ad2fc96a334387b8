import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Directive, ID, Info, InputType, Mutation } from 'type-graphql';
import { Call } from '../../doors/graphql/execution/context.js';
import { answeredFields } from '../../doors/graphql/operations/operation-size.js';
import type { ServiceCall } from '../../ground/kernel/caller.js';
import { parseRecordId } from '../../ground/kernel/int64.js';
import { capitalized, withoutStop } from '../../noun-words.js';
import type { ModelAction, NounModel } from '../definition/model.js';
import type { NounService, Values } from '../records/noun.service.js';
import { inputRulesOf } from '../records/schemas.js';
import { addField, fieldTypesOf, inputText, type NounTypes, parsed } from './noun.types.js';

interface Acting {
  readonly service: NounService;
}

/** Adds the mutations of a noun's actions to the class of its resolver. Call it once for a noun. */
export function addActions(
  model: NounModel,
  Resolver: new (service: NounService) => Acting,
  { RecordType, present }: Pick<NounTypes, 'RecordType' | 'present'>,
): void {
  const { singular, plural } = model.description;
  const prototype = Resolver.prototype as Record<string, unknown>;
  for (const action of model.actions) {
    const { operation, fields, description } = action;
    const rules = inputRulesOf(model, action);
    /** No method of the class has a name like this. */
    const method = `do:${operation}`;
    prototype[method] = async function act(
      this: Acting,
      call: ServiceCall,
      info: GraphQLResolveInfo,
      text: string,
      input?: Values | null,
    ) {
      const stated = rules.parse(parsed(fields, input ?? {}, (value) => value !== null));
      const wanted = { id: parseRecordId(text, singular), input: stated };
      return present(await this.service.act(call, action, wanted, answeredFields(info)));
    };
    Mutation(() => RecordType, {
      name: operation,
      description: `${withoutStop(description)}. Needs the scope \`${plural}:${action.name}\`. With an \`Idempotency-Key\` header a repeated request does nothing. Without the scope \`${plural}:read\` the response may contain only \`id\` and the fields that the action changes.`,
    })(prototype, method, {});
    Directive('@rateLimit(max: 300, window: "1m")')(prototype, method);
    Call()(prototype, method, 0);
    Info()(prototype, method, 1);
    Arg('id', () => ID, { description: `The ${singular}'s identifier.` })(prototype, method, 2);
    if (fields.length === 0) continue;
    const Input = inputTypeOf(model, action);
    const nullable = !fields.some(({ isRequired }) => isRequired);
    Arg('input', () => Input, { description: 'The input of the action.', nullable })(prototype, method, 3);
  }
}

function inputTypeOf({ description }: NounModel, { name, inputType, operation, fields }: ModelAction) {
  @InputType(inputType, { description: `The input of \`${operation}\`.` })
  class ActionInput {}
  const types = fieldTypesOf(`${description.type}${capitalized(name)}`, fields);
  for (const field of fields) {
    addField(ActionInput, field.name, types.get(field.name) as object, {
      description: inputText(field, withoutStop(field.description)),
      nullable: !field.isRequired,
    });
  }
  return ActionInput;
}
