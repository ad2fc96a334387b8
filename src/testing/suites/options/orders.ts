import assert from 'node:assert/strict';
import type { NounModel } from '../../../noun/definition/model.js';
import { assertIncludes } from '../../assertions.js';
import type { Values } from '../../inputs.js';
import {
  accepted,
  type Door,
  type ListQuery,
  type Outcome,
  type SharedPage,
  type SharedRecord,
} from '../../noun-doors.js';
import { comparisonOf, orderingValues } from '../../ordering-values.js';
import type { Tenant } from '../../tested-app.js';
import type { Suite, SuiteParts } from '../suite.js';

type Field = NounModel['fields'][number];

const PAGE_SIZE = 2;
const FIRST =
  'Ordering-1: both APIs have each record once on the pages by the field, in both directions: without a value first, ties by age';
const REFUSED = { ok: false, code: 'invalid_request', status: 400 };

/** Lists by a field, and of a part of its values. */
export const orders: Suite = (parts) => {
  const { model } = parts.noun;
  const fields = [...new Set([...model.orders, ...model.rangeFilters].map(({ field }) => field))];
  for (const field of fields) parts.describe(field.name, () => fieldSuite(parts, field));
  if (fields.length === 0) parts.testWith(null, 'field with sort or a range', FIRST, () => {});
};

function fieldSuite({ noun, doors, app, fresh, testWith, beforeAll }: SuiteParts, field: Field): void {
  const { orders, rangeFilters } = noun.model;
  const [ascending, descending] = orders.filter((order) => order.field === field);
  const [range] = rangeFilters.filter((each) => each.field === field);
  const compare = comparisonOf(field);
  const sorted = compare && ascending && descending ? { ascending, descending } : null;
  const ranged = compare && range ? range : null;
  const known = compare ? '' : `known order of the kind ${field.kind.name}, but one`;
  let owner: Tenant;
  /** Without a value first, ties by age. */
  let expected: SharedRecord[];
  const valueIn = (record: SharedRecord) => record[field.name] ?? null;

  beforeAll(async () => {
    owner = await app().tenant();
    const inputs = [0, 1, 2].map((n) => noun.input(n)[field.name]);
    const values = orderingValues(field, inputs);
    const [first, second, third = first, ...others] = values;
    const unset = field.isSet ? [] : [null];
    const made: SharedRecord[] = [];
    for (const value of [third, first, ...unset, second, first, ...unset, ...others, third]) {
      const { [field.name]: _, ...input } = fresh();
      const given = value === null ? input : { ...input, [field.name]: value };
      // A unique field refuses ties, and a check of the noun some values.
      const outcome = await doors.graphql.create(owner.token, given);
      if (outcome.ok) made.push(outcome.value);
    }
    if (!made.some((record) => valueIn(record) !== null))
      throw new Error(
        `The noun accepts no value of ${field.name} that the tests know: let input(0) state one.`,
      );
    const byValue = (one: SharedRecord, other: SharedRecord) => {
      const [a, b] = [valueIn(one), valueIn(other)];
      if (a === null || b === null) return Number(a !== null) - Number(b !== null);
      return compare?.(a, b) ?? 0;
    };
    expected = made.toSorted((a, b) => byValue(a, b) || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  });

  /** A page, which both doors must give alike; only GraphQL has the newest first. */
  async function page(query: ListQuery): Promise<SharedPage> {
    const found = accepted(await doors.graphql.list(owner.token, query));
    if (!query.isNewestFirst) assert.deepEqual(accepted(await doors.rest.list(owner.token, query)), found);
    return found;
  }
  async function walk(query: ListQuery): Promise<string[]> {
    const seen: string[] = [];
    for (let wanted: ListQuery = { ...query, size: PAGE_SIZE }; ; ) {
      const { records, next } = await page(wanted);
      seen.push(...idsOf(records));
      assert.ok(seen.length <= expected.length, 'a page was repeated');
      if (next === null) return seen;
      wanted = { ...wanted, cursor: next };
    }
  }
  const both = async (query: ListQuery, check: (outcome: Outcome<SharedPage>, door: Door) => void) => {
    for (const door of Object.values(doors)) check(await door.list(owner.token, query), door);
  };
  const idsOf = (records: readonly SharedRecord[]) => records.map(({ id }) => id);
  const within = (from: unknown, before: unknown) =>
    expected.filter((record) => {
      const value = valueIn(record);
      return (
        value !== null &&
        (from === null || (compare?.(value, from) ?? 0) >= 0) &&
        (before === null || (compare?.(value, before) ?? 0) < 0)
      );
    });
  const boundsOf = (from: unknown, before: unknown): Values => ({
    ...(range && from !== null && { [range.from]: from }),
    ...(range && before !== null && { [range.before]: before }),
  });

  testWith(sorted, known || 'sort of this field', FIRST, async ({ ascending, descending }) => {
    assert.deepEqual(await walk({ order: ascending }), idsOf(expected));
    assert.deepEqual(await walk({ order: descending }), idsOf(expected.toReversed()));
  });

  testWith(
    sorted,
    known || 'sort of this field',
    'Ordering-2: a cursor belongs to its order and its range, and both APIs refuse it in another list, by name',
    async ({ ascending, descending }) => {
      const [other] = orders.filter((order) => order.field !== field);
      const [least] = within(null, null).map(valueIn);
      const lists: ListQuery[] = [{}, { order: ascending }, { order: descending }];
      const further = [
        ...(other ? [{ order: other }] : []),
        ...(range ? [{ bounds: boundsOf(least, null) }] : []),
      ];
      for (const from of lists.slice(0, 2)) {
        const { next } = accepted(await doors.rest.list(owner.token, { ...from, size: 1 }));
        for (const to of [...lists, ...further])
          await both({ ...to, cursor: next ?? '' }, (outcome) => {
            const answer = from === to ? { ok: true } : { ...REFUSED, fields: ['cursor'] };
            assertIncludes([from, to, outcome], [from, to, answer]);
          });
      }
    },
  );

  testWith(
    ranged,
    known || 'range of this field',
    'Ordering-3: both APIs list a range by its field: from its first bound on, and before the other',
    async () => {
      const values = [...new Set(expected.map(valueIn).filter((value) => value !== null))];
      const [least, greatest] = [values.at(0), values.at(-1)];
      const pairs = [
        ...values.flatMap((value) => [[value, null] as const, [null, value] as const]),
        [greatest, least] as const,
      ];
      for (const [from, before] of pairs) {
        const bounds = boundsOf(from, before);
        const { records } = await page({ bounds });
        assert.deepEqual([bounds, idsOf(records)], [bounds, idsOf(within(from, before))]);
      }
      const bounds = boundsOf(least, greatest);
      const ids = idsOf(within(least, greatest));
      assert.deepEqual(await walk({ bounds }), ids);
      assert.deepEqual(await walk({ bounds, isNewestFirst: true }), ids.toReversed());
      if (sorted) assert.deepEqual(await walk({ bounds, order: sorted.descending }), ids.toReversed());
    },
  );

  testWith(
    ranged,
    known || 'range of this field',
    'Ordering-4: both APIs refuse a bound that is no value, by its name',
    async (range) => {
      for (const argument of [range.from, range.before]) {
        const refused = { ...REFUSED, fields: [argument] };
        await both({ bounds: { [argument]: 'x' } }, (outcome, door) => {
          // GraphQL itself refuses what is no moment and no integer.
          const isNamed = door === doors.rest || /String|ID/.test(field.kind.scalar);
          assertIncludes(outcome, isNamed ? refused : { ok: false });
        });
      }
    },
  );

  /** The first range of the definition orders the list, and the other is refused. */
  const ofOthers: [refused: string, query: ListQuery][] = [
    ...rangeFilters
      .filter((each) => each !== range)
      .map((each): [string, ListQuery] => {
        const [last = each] = [range, each].sort(
          (a, b) => rangeFilters.indexOf(b as never) - rangeFilters.indexOf(a as never),
        );
        return [last.from, { bounds: { [each.from]: orderingValues(each.field, [])[0] } }];
      }),
    ...orders
      .filter((order) => order.field !== field)
      .map((order): [string, ListQuery] => ['sort', { order }]),
  ];
  testWith(
    ranged && ofOthers.length > 0 ? ofOthers : null,
    known || (range ? 'other field with sort or a range' : 'range of this field'),
    'Ordering-5: a list has one order, so both APIs refuse a range beside the order or the range of another field, by name',
    async (others) => {
      const [value] = within(null, null).map(valueIn);
      const own = boundsOf(value, null);
      for (const [name, query] of others)
        await both({ ...query, bounds: { ...own, ...query.bounds } }, (outcome) => {
          assertIncludes([query, outcome], [query, { ...REFUSED, fields: [name] }]);
        });
    },
  );
}
