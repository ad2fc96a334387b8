import { refuseDefinition } from './action.js';
import type { NounModel } from './model.js';

/** A change of a record before it is stored: all values of a new record, and of a changed one before and after. */
type WriteChange<Row, Values> = { readonly now: string } & (
  | { readonly kind: 'create'; readonly before: null; readonly after: Readonly<Values> }
  | { readonly kind: 'update'; readonly before: Readonly<Row>; readonly after: Readonly<Row> }
  | { readonly kind: 'delete'; readonly before: Readonly<Row>; readonly after: null }
);

/**
 * Returns further fields to change, or calls `refuse`. The same conditions hold as for `run` of an action: it runs within the
 * transaction of each write, perhaps more than once, so it must be synchronous and without effects outside.
 */
export type BeforeWrite<Row, Values> = (
  change: WriteChange<Row, Values>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook without a return changes nothing.
) => Partial<Values> | void;

/** The model with its hook. Throws an `Error` for an async function. */
export function withHook(model: NounModel, hook: NonNullable<NounModel['beforeWrite']>): NounModel {
  if (hook.constructor.name === 'AsyncFunction')
    refuseDefinition(
      model,
      'beforeWrite is an async function. It runs within a transaction, so it must return the changes at once.',
    );
  return { ...model, beforeWrite: hook };
}
