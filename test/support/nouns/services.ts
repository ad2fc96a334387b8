import type { ListOrder } from '../../../src/ground/kernel/validation.js';
import type { DefinedNoun } from '../../../src/noun/define-noun.js';
import { NounService } from '../../../src/noun/records/noun.service.js';
import { NounCursors } from '../../../src/noun/records/noun-cursors.js';
import type { NounList } from '../../../src/noun/records/noun-list.js';
import type { TestApp } from '../start-app.js';

/** A list of a noun whose filters are `status` and the start of its name, as toys. */
export interface WantedList {
  status?: string | null;
  nameStartsWith?: string | null;
  ids?: readonly bigint[] | null;
  orderBy?: ListOrder;
}

/** A list, as the service reads it. */
export function listOf(
  { model }: Pick<DefinedNoun, 'model'>,
  { status = null, nameStartsWith = null, ids = null, orderBy = 'OLDEST' }: WantedList = {},
): NounList {
  const [filter] = model.startFilters;
  const start = filter && nameStartsWith !== null ? { filter, prefix: nameStartsWith } : null;
  return { wholeValues: [status], start, sort: null, ids, orderBy };
}

export const cursorsOf = (noun: Pick<DefinedNoun, 'model'>, wanted: WantedList) =>
  new NounCursors(noun.model, listOf(noun, wanted));

/** The service of the first noun, which both doors of the app use. */
export function serviceOf({ app }: Pick<TestApp, 'app'>): NounService {
  const [noun] = app.services.nouns;
  if (!(noun?.service instanceof NounService)) throw new Error('the app serves no defined noun');
  return noun.service;
}
