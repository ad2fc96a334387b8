import type { NounReference } from '../../nouns.js';
import { int64 } from './int64.js';
import type { Field, FieldOf, FieldOptions, Only, OwnOptions, Reference } from './kind.js';

interface ReferenceOptions extends Omit<FieldOptions<bigint>, 'default'> {
  /** Lists of the records that refer to one record, in both APIs and as a connection of the other noun in GraphQL. */
  readonly filter?: true;
  /** A write may state only a record that the project has. */
  readonly mustExist?: true;
  /** When the other record is deleted: the field stays as it is, the deletion is refused, or the field becomes null. Deleted records of `softDelete` do not count. */
  readonly onDelete?: Reference['onDelete'];
  /** The name of the other record in GraphQL; by default the field's without `Id`. */
  readonly as?: string;
  /** The name of the connection of the other noun; by default the plural of this one, false = it has none. */
  readonly list?: string | false;
}

const OWN: OwnOptions<ReferenceOptions> = {
  filter: true,
  mustExist: true,
  onDelete: true,
  as: true,
  list: true,
  default: false,
};

/**
 * The identifier of a record of another noun, or of the same one: an int64, beside which GraphQL has the record. Pass the
 * singular of the other noun. D-274.
 */
export function reference<const Options extends ReferenceOptions>(
  noun: string,
  options: Only<Options, ReferenceOptions>,
): FieldOf<bigint, Options> {
  const { filter, example = 4711n, mustExist = false } = options as ReferenceOptions;
  const { as, list, onDelete = 'allow' } = options as ReferenceOptions;
  const field = int64({ ...options, filter, example } as FieldOptions<bigint>);
  const kind = { ...field.kind, own: OWN, reference: { noun, mustExist, onDelete, as, list } };
  return { ...field, kind, options, filter: filter ? 'whole' : null };
}

/** The name of the record beside its identifier; null = the field needs the option `as`. */
export function recordNameOf(name: string, { as }: Reference): string | null {
  return as ?? (/^.+Id$/.test(name) ? name.slice(0, -'Id'.length) : null);
}

/** A reference as the gateway knows it. `refuse` throws for options that cannot work; the platform uses the names in `taken`. */
export function describedReference(
  { name, kind, filter, options }: Field & { readonly name: string },
  plural: string,
  { taken, refuse }: { taken: readonly string[]; refuse: (problem: string) => never },
): NounReference | undefined {
  if (!kind.reference) return undefined;
  const { noun, mustExist, onDelete, list = plural } = kind.reference;
  const as = recordNameOf(name, kind.reference);
  if (as === null) return refuse(`the reference ${name} does not end in Id. Name its record with \`as\`.`);
  for (const given of [as, list === false ? as : list]) {
    if (!/^[a-z][a-zA-Z0-9]{0,39}$/.test(given) || taken.includes(given) || given in {})
      refuse(`"${given}" cannot be a name beside the reference ${name}. Choose another one.`);
  }
  if (!['allow', 'refuse', 'unset'].includes(onDelete))
    refuse(`onDelete of ${name} is allow, refuse or unset, not ${onDelete}.`);
  if (!filter && (kind.reference.list || onDelete !== 'allow'))
    refuse(`list and onDelete of the reference ${name} need filter: true, because that is their index.`);
  if (options.writeOnly) refuse(`the reference ${name} is writeOnly, and its record would never be shown.`);
  if (onDelete === 'unset' && !options.optional)
    refuse(`onDelete: 'unset' of the reference ${name} needs optional: true.`);
  return { noun, as, list: filter && list !== false ? list : null, mustExist, onDelete };
}
