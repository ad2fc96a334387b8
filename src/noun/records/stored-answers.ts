import { type Codec, objectCodec } from '../../tenants/idempotency/idempotency.service.js';
import type { ModelField, NounModel } from '../definition/model.js';
import type { NounRow } from './row.js';

/** The record after an action, with the fields that the action changed. */
interface Acted {
  readonly row: NounRow;
  readonly changed: readonly string[];
}

/** The answers of a noun's writes, as a repeated Idempotency-Key finds them. */
export function storedAnswers({ fields, computed }: Pick<NounModel, 'fields' | 'computed'>) {
  // A computed field may follow from a value that no answer has.
  const hidden = computed.length > 0 ? [] : fields.filter(({ options }) => options.writeOnly);
  const absent = Object.fromEntries(hidden.map(({ name }) => [name, null]));
  const int64 = fields.filter(({ kind }) => kind.scalar === 'ID').map(({ name }) => name);
  const whole = objectCodec<NounRow>('projectId', 'id', ...int64);
  const ofRecord: Codec<NounRow> = { ...whole, write: (row) => whole.write({ ...row, ...absent }) };
  const ofAction: Codec<Acted> = {
    write: ({ row, changed }) => JSON.stringify([ofRecord.write(row), changed]),
    read: async (json) => {
      const [row, changed] = JSON.parse(json);
      return { row: await ofRecord.read(row), changed };
    },
  };
  return { ofRecord, ofAction };
}

/** For Idempotency-Key: each field in the order of the definition; undefined = a change does not state it. */
export function inputOf(
  fields: readonly ModelField[],
  values: Readonly<Record<string, unknown>>,
): (string | bigint | null | undefined)[] {
  return fields.map(({ name }) => {
    const value = values[name];
    if (typeof value === 'number') return BigInt(value);
    return typeof value === 'boolean' || Array.isArray(value)
      ? JSON.stringify(value)
      : (value as string | bigint | null | undefined);
  });
}
