import type { NounModel } from '../noun/definition/model.js';
import type { Values } from './inputs.js';

/** A difference that makes an input invalid, with the sorted names of the wrong fields. */
export type Invalid = readonly [difference: Values, fields: readonly string[]];

/** Wrong values of each field, which both APIs refuse alike, and two wrong fields together. */
export function invalidInputs({ fields }: Pick<NounModel, 'fields'>): readonly Invalid[] {
  const single = fields.flatMap((field) =>
    wrongValues(field).map((value): Invalid => [{ [field.name]: value }, [field.name]]),
  );
  const [first, last] = [single[0], single.at(-1)];
  if (!first || !last || first[1][0] === last[1][0]) return single;
  return [...single, [{ ...first[0], ...last[0] }, [...first[1], ...last[1]].sort()]];
}

/** GraphQL itself refuses what is no value of an enum, no moment, and an integer of more than 32 bits. */
function wrongValues({ kind }: NounModel['fields'][number]): unknown[] {
  const { minimum, maximum, maxLength } = kind.schema as Record<string, number | undefined>;
  switch (kind.name) {
    case 'text':
      return ['', 'x'.repeat((maxLength ?? 0) + 1)];
    case 'int64':
      return ['9223372036854775808', '1.5'];
    case 'integer':
      return [(minimum ?? 0) - 1, (maximum ?? 0) + 1].filter((value) => value === (value | 0));
    case 'date':
      return ['2026-02-30', ''];
    case 'decimal':
      return ['1e3', ''];
    case 'texts':
      return [[' ']];
    default:
      return [];
  }
}
