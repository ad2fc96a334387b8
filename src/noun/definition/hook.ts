import { refuseDefinition } from './action.js';
import type { NounModel } from './model.js';

/** A change of a record before it is stored: all values of a new record, and of a changed one before and after. */
type WriteChange<Row, Values> = { readonly now: string } & (
  | { readonly kind: 'create'; readonly before: null; readonly after: Readonly<Values> }
  | { readonly kind: 'update'; readonly before: Readonly<Row>; readonly after: Readonly<Row> }
  | { readonly kind: 'delete'; readonly before: Readonly<Row>; readonly after: null }
);

/**
 * Returns further fields to change, or calls `refuse`. It runs within the transaction of each write, perhaps more than once.
 * So it must be synchronous and without effects outside, as `run` of an action. Two writes do not call it: `onDelete: 'unset'`, and the restoration of a record with the values that it had.
 */
export type BeforeWrite<Row, Values> = (
  change: WriteChange<Row, Values>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook without a return changes nothing.
) => Partial<Values> | void;

/** A stored change of a record. `key` is equal if a change is given again, and differs between the changes of a project. */
export type CommittedChange<Row = object> = { readonly key: string; readonly at: string } & (
  | { readonly kind: 'create'; readonly before: null; readonly after: Readonly<Row> }
  | { readonly kind: 'update'; readonly before: Readonly<Row>; readonly after: Readonly<Row> }
  | { readonly kind: 'delete'; readonly before: Readonly<Row>; readonly after: null }
);

/**
 * Called for each change of the change log, in the order of the commits of a project: at least once, also after a crash. A
 * rejection, or 30 s without an end, repeats it later; `signal` tells when the 30 s are over.
 */
export type AfterCommitHook<Row> = (
  change: CommittedChange<Row>,
  call: { readonly signal: AbortSignal },
) => Promise<unknown> | unknown;

/** The model with its hook. Throws an `Error` for an async function. */
export function withHook(model: NounModel, hook: NonNullable<NounModel['beforeWrite']>): NounModel {
  if (hook.constructor.name === 'AsyncFunction')
    refuseDefinition(
      model,
      'beforeWrite is an async function. It runs within a transaction, so it must return the changes at once.',
    );
  return { ...model, beforeWrite: hook };
}

/** The model with its hook. Throws an `Error` without a change log, from which the hook is called. */
export function withAfterCommit(model: NounModel, hook: NonNullable<NounModel['afterCommit']>): NounModel {
  if (!model.description.hasChanges)
    refuseDefinition(model, 'afterCommit follows the change log. Give the noun changes: true.');
  return { ...model, afterCommit: hook };
}
