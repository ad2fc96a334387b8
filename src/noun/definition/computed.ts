import type { Field } from '../kinds/kind.js';
import { refuseDefinition } from './action.js';
import { describedField, type ModelComputed, modelField, type NounModel } from './model.js';

/** A computed field of a definition, as `computed` returns it. */
export interface DefinedComputed {
  readonly kind: Field;
  readonly of: (record: never, at: { readonly now: string }) => unknown;
}

/** Types the functions of computed fields by the fields of the noun and by the kind of the value. */
export type ComputedMaker<Row> = <Value>(
  kind: Field<Value, unknown>,
  of: (record: Readonly<Row>, at: { readonly now: string }) => NoInfer<Value>,
) => DefinedComputed;

/** The model with its computed fields. Throws an `Error` that names the field and the option that cannot work. */
export function withComputed(
  model: NounModel,
  define: (computed: ComputedMaker<never>) => Readonly<Record<string, DefinedComputed>>,
): NounModel {
  const computed = Object.entries(define((kind, of) => ({ kind, of }))).map(([name, { kind, of }]) => {
    const refuse = (problem: string) => refuseDefinition(model, problem);
    const { unique, immutable, sort, writeOnly, readScope, default: byDefault } = kind.options;
    const option = {
      unique,
      immutable,
      sort,
      writeOnly,
      readScope,
      default: byDefault !== undefined,
      filter: kind.filter !== null,
    };
    const [wrong] = Object.entries(option).find(([, isStated]) => isStated) ?? [];
    if (wrong) refuse(`the computed field ${name} has the option ${wrong}, which only stored fields have.`);
    if (kind.kind.reference)
      refuse(`the computed field ${name} is a reference, which only stored fields can be.`);
    if (kind.kind.choices) refuse(`the computed field ${name} is a choice, which only stored fields can be.`);
    if (model.fields.some((field) => field.name === name)) refuse(`two fields have the name ${name}.`);
    const field = modelField(model.description.singular, name, kind, refuse);
    return { field, of: of as ModelComputed['of'] };
  });
  const shown = [...model.shown, ...computed.map(({ field }) => field)];
  return {
    ...model,
    computed,
    shown,
    description: { ...model.description, computed: computed.map(({ field }) => describedField(field)) },
  };
}
