import { ArgsType, Field, ID, Int } from 'type-graphql';
import { describedEnum } from '../../doors/graphql/operations/type-options.js';
import { invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { parseInt64 } from '../../ground/kernel/int64.js';
import {
  LIST_ORDERS,
  MAX_PAGE_SIZE,
  type ObjectSchema,
  PAGE_SIZE,
  pageSizeSchema,
  validator,
} from '../../ground/kernel/validation.js';
import type { ChangesRequest } from '../../ground/records/noun-changes.js';
import { inSentence } from '../../noun-words.js';
import type { ModelFilter } from '../definition/lists.js';
import type { NounModel } from '../definition/model.js';
import { sortOf } from '../records/list-sort.js';
import { NounCursors } from '../records/noun-cursors.js';
import {
  entryProblems,
  filterValueOf,
  isByEntry,
  MAX_IDS,
  matchesAll,
  type NounListRequest,
} from '../records/noun-list.js';
import type { NounRow } from '../records/row.js';
import { afterText, boundTexts, orderTexts, startText, wholeText } from './list-texts.js';
import { addField } from './noun.types.js';

type Given = Readonly<Record<string, unknown>>;

/** The arguments of a noun's lists, counts and changes, and how they are read. Call it once for a noun. */
export function nounArguments(model: NounModel, fieldTypes: ReadonlyMap<string, object>) {
  const { description, startFilters, wholeFilters, rangeFilters, orders } = model;
  const hasOrders = rangeFilters.length + orders.length > 0;
  const { singular, plural, type } = description;
  const bounds = rangeFilters.flatMap((range) => {
    const texts = boundTexts(model, range);
    return [range.from, range.before].map((argument, at) => ({
      argument,
      field: range.field,
      text: texts[at] as string,
    }));
  });
  const filters = [...wholeFilters, ...startFilters, ...bounds];
  const typeOf = (filter: ModelFilter) =>
    isByEntry(filter) ? String : (fieldTypes.get(filter.field.name) as object);
  const OrderEnum = describedEnum<string>(`${type}Order`, ...orderTexts(model));

  @ArgsType()
  class ListArgs {
    @Field(() => Int, {
      nullable: true,
      defaultValue: PAGE_SIZE.default,
      description: `How many ${plural}: ${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}.`,
    })
    first?: number | null;

    @Field(() => String, { nullable: true, description: afterText(model) })
    after?: string | null;

    @Field(() => [ID], {
      nullable: true,
      description: `Only the ${plural} with these identifiers, at most ${MAX_IDS}, for example \`["4711", "4712"]\`. Identifiers without a ${singular} of the project are left out, and a repeated one counts once. The other arguments apply as to any list: with \`first: ${PAGE_SIZE.maximum}\` all of them are on one page, in the order of \`orderBy\`.`,
    })
    ids?: string[] | null;

    @Field(() => OrderEnum, {
      nullable: true,
      defaultValue: LIST_ORDERS[0],
      description: `Which ${plural} come first; \`NEWEST\` shows a new ${singular} at the top of the first page.`,
    })
    orderBy?: string | null;
  }
  for (const filter of wholeFilters) {
    addField(ListArgs, filter.argument, typeOf(filter), {
      nullable: true,
      description: wholeText(model, filter),
    });
  }
  for (const filter of startFilters) {
    addField(ListArgs, filter.argument, String, { nullable: true, description: startText(model, filter) });
  }
  for (const bound of bounds) {
    addField(ListArgs, bound.argument, typeOf(bound), { nullable: true, description: bound.text });
  }

  @ArgsType()
  class CountArgs {}
  for (const filter of filters) {
    const description = `As in \`${plural}\`.`;
    addField(CountArgs, filter.argument, typeOf(filter), { nullable: true, description });
  }

  @ArgsType()
  class FollowedArgs {
    @Field(() => String, {
      nullable: true,
      description:
        'Only changes behind this cursor, of a change or from `changesCursor`. A cursor that the log does not reach any more is refused with `GONE`: list again, and follow from the `changesCursor` of that list.',
    })
    after?: string | null;
  }
  for (const filter of wholeFilters) {
    const label = inSentence(filter.field.label);
    const what = isByEntry(filter) ? `this text in their ${label}` : `this ${label}`;
    const description = `Only changes of ${plural} that have ${what}, or had it before the change.`;
    addField(FollowedArgs, filter.argument, typeOf(filter), { nullable: true, description });
  }

  @ArgsType()
  class ChangeArgs extends FollowedArgs {
    @Field(() => Int, {
      nullable: true,
      defaultValue: MAX_PAGE_SIZE,
      description: `How many changes: 1 to ${MAX_PAGE_SIZE}.`,
    })
    first?: number | null;
  }

  const problemsOf = validator(argumentsSchema(model));
  /** The arguments with the values that the rules know; undefined = not stated. */
  const parsed = (given: Given): Given => ({
    ...Object.fromEntries(startFilters.map(({ argument }) => [argument, given[argument] ?? undefined])),
    ...Object.fromEntries(
      [...wholeFilters, ...bounds].map(({ argument, field }) => [
        argument,
        field.kind.parse?.(given[argument]) ?? given[argument] ?? undefined,
      ]),
    ),
  });
  const wholeValuesOf = (values: Given, problems: readonly object[]) =>
    wholeFilters.map(({ argument, field }) => filterValueOf(field.kind, values[argument], problems));

  return {
    ListArgs,
    CountArgs,
    FollowedArgs,
    ChangeArgs,

    /** The list that a client wants. Throws `AppError invalid_request` that names each invalid argument. */
    listOf(given: Given): NounListRequest {
      const pageSize = (given.first as number | null | undefined) ?? PAGE_SIZE.default;
      const ids = given.ids as string[] | null | undefined;
      const started = startFilters.filter(({ argument }) => typeof given[argument] === 'string');
      const [start] = started;
      const values = parsed(given);
      const problems = problemsOf({ first: pageSize, ids: ids ?? undefined, ...values });
      if (started[1]) {
        problems.push({ field: started[1].argument, message: `cannot be combined with ${start?.argument}` });
      }
      const wholeValues = wholeValuesOf(values, problems);
      const startAt = start ? { filter: start, prefix: given[start.argument] as string } : null;
      const order = orders.find(({ name }) => name === given.orderBy);
      const wanted = {
        start: startAt,
        wholeValues,
        field: order?.field ?? null,
        argument: 'orderBy',
        values,
      };
      const isReverse = order ? order.isDescending : given.orderBy === 'NEWEST';
      const list = {
        wholeValues,
        start: startAt,
        sort: hasOrders ? sortOf(model, wanted, problems) : null,
        ids: ids ? identifiers(ids.slice(0, MAX_IDS)) : null,
        orderBy: LIST_ORDERS[isReverse ? 1 : 0],
      };
      problems.push(...entryProblems(model, list));
      const position =
        typeof given.after === 'string' ? new NounCursors(model, list).decode(given.after) : undefined;
      if (position === null) {
        problems.push({
          field: 'after',
          message: got('must be a cursor of this list, with the same order and filters', given.after),
        });
      }
      if (problems.length > 0) throw invalidRequest(problems);
      return { ...list, pageSize, after: position ?? null };
    },

    /** The changes that a client wants. Throws `AppError invalid_request`. */
    changesOf(given: Given): ChangesRequest<NounRow> {
      const pageSize = (given.first as number | null | undefined) ?? MAX_PAGE_SIZE;
      const values = parsed(given);
      const problems = problemsOf({ first: pageSize, ...values });
      const matches = matchesAll(model, wholeValuesOf(values, problems));
      if (problems.length > 0) throw invalidRequest(problems);
      return { after: (given.after as string | null | undefined) ?? null, field: 'after', pageSize, matches };
    },
  };
}

/** The beginning of a text: unlike a text it may be only blanks. */
function argumentsSchema({ description, startFilters, wholeFilters, rangeFilters }: NounModel): ObjectSchema {
  const beginning = ({ argument, field }: ModelFilter) => {
    const { length: maxLength } = field.kind.column;
    return [
      argument,
      { type: 'string', minLength: 1, maxLength, rule: `must be text of 1 to ${maxLength} characters` },
    ];
  };
  return {
    type: 'object',
    properties: {
      first: pageSizeSchema(description.plural),
      ...Object.fromEntries(startFilters.map(beginning)),
      ...Object.fromEntries(wholeFilters.map(({ argument, field }) => [argument, field.kind.schema])),
      ...Object.fromEntries(
        rangeFilters.flatMap(({ field, from, before }) =>
          [from, before].map((argument) => [argument, field.kind.order?.bound]),
        ),
      ),
      ids: { type: 'array', maxItems: MAX_IDS, rule: `must be at most ${MAX_IDS} identifiers` },
    },
  };
}

/** Each once, ascending. A text that is no 64-bit integer identifies no record. */
function identifiers(texts: readonly string[]): bigint[] {
  const ids = new Set(texts.map(parseInt64).filter((id) => id !== null));
  return [...ids].sort((a, b) => (a < b ? -1 : 1));
}
