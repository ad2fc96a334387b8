import type { NounDescription, NounField, NounReference } from '../../nouns.js';

/** A field of one noun with the identifier of a record of another noun, or of the same one. */
export interface Relation {
  readonly from: NounDescription;
  readonly field: NounField;
  readonly reference: NounReference;
  readonly to: NounDescription;
}

/** A deletion changes or names at most as many records that refer to the deleted one. */
export const MOST_REFERRING = 1_000;

/** Why a record is not deleted: `count` records, or more than `MOST_REFERRING`, refer to it. */
export function inUse(
  { from, field, to }: { from: NounDescription; field: Pick<NounField, 'name'>; to: NounDescription },
  count: number,
): string {
  const { singular, plural } = from;
  const many = count > MOST_REFERRING ? `more than ${MOST_REFERRING.toLocaleString('en')}` : String(count);
  const who = count === 1 ? `1 ${singular} refers` : `${many} ${plural} refer`;
  return `${who} to this ${to.singular} with ${field.name}. Change or delete them first.`;
}

/** The references between the nouns of a gateway. Throws an `Error` for one that cannot work. */
export function relationsOf(nouns: readonly NounDescription[]): Relation[] {
  const relations = nouns.flatMap((from) =>
    from.fields.flatMap((field): Relation[] => {
      const { reference } = field;
      if (!reference) return [];
      const to = nouns.find(({ singular }) => singular === reference.noun);
      if (to) return [{ from, field, reference, to }];
      const known = nouns.map(({ singular }) => singular).join(', ');
      throw new Error(
        `The noun ${from.singular} can't be served: ${field.name} refers to the noun ${reference.noun}, and the gateway has only ${known}.`,
      );
    }),
  );
  for (const noun of nouns) requireNames(noun, relations);
  return relations;
}

/** Each name of GraphQL that references give a noun is there once. */
function requireNames(
  { singular, fields, computed = [] }: NounDescription,
  relations: readonly Relation[],
): void {
  const names = new Set([...fields, ...computed].map(({ name }) => name));
  const add = (name: string, { from, field }: Relation, option: string) => {
    if (names.has(name))
      throw new Error(
        `The noun ${singular} can't be served: it would have two fields ${name}. Give ${field.name} of ${from.singular} another \`${option}\`.`,
      );
    names.add(name);
  };
  for (const relation of relations) {
    const { from, reference, to } = relation;
    if (from.singular === singular) add(reference.as, relation, 'as');
    if (to.singular === singular && reference.list !== null) add(reference.list, relation, 'list');
  }
}

/**
 * By plural: the name of all nouns that references connect with a noun. An answer with records of several of them is current
 * while none of them is written. A noun without another one has none.
 */
export function groupsOf(nouns: readonly NounDescription[]): ReadonlyMap<string, string> {
  const groups = new Map(nouns.map(({ plural }) => [plural, new Set([plural])]));
  for (const { from, to } of relationsOf(nouns)) {
    const [one, other] = [from, to].map(({ plural }) => groups.get(plural) as Set<string>);
    const joined = new Set([...(one ?? []), ...(other ?? [])]);
    for (const plural of joined) groups.set(plural, joined);
  }
  const connected = [...groups].filter(([, plurals]) => plurals.size > 1);
  return new Map(connected.map(([plural, plurals]) => [plural, [...plurals].sort().join('+')]));
}
