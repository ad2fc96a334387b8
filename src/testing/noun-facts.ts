import type { Values } from './inputs.js';
import type { Invalid } from './invalid-inputs.js';

/** The facts about a noun that its test file states. All else follows from its definition. */
export interface NounFacts {
  /** Its name, such as `shipment`. */
  readonly noun: string;
  /**
   * Valid input number `n`, from 0 to 10,000, of at most 300 characters. The values of unique fields differ between two
   * numbers. A 64-bit integer is a bigint, or text of its digits.
   */
  input(n: number): Values;
  /** Valid changes number `n`: they differ from every input, and from the changes of another number. */
  change(n: number): Values;
  /**
   * Inputs of records of other nouns, which each project of the tests has. They are created in this order, and those of a noun
   * have the identifiers 1, 2, …: with `{ warehouse: [{ name: 'North' }] }` inputs may state `warehouseId: 1n`.
   */
  readonly existing?: Readonly<Record<string, readonly Values[]>>;
  /** By name: `{ deliver: { input: { signature: 'Ada' } } }`. An action that requires no input needs no entry. */
  readonly actions?: Readonly<Record<string, ActionFacts>>;
  /** By default those that follow from the kinds of the fields. */
  readonly invalid?: readonly Invalid[];
  /** A required field that accepts every text up to its length, also a repeated one. By default the first without a pattern. */
  readonly text?: string | null;
  /** A field that accepts these integers; by default the bounds of the first one. */
  readonly int64?: { readonly field: string; readonly digits: readonly string[] } | null;
  /** A choice that is a filter, and two of its values that every input and change can have. */
  readonly filter?: { readonly field: string; readonly values: readonly [string, string] } | null;
}

/** A request of an action, which its function accepts. */
export interface ActionFacts extends ActionCase {
  /** A request that the function refuses. */
  readonly refused?: ActionCase;
}

interface ActionCase {
  /** Valid input of the action; by default none. */
  readonly input?: Values;
  /** Values of the record that `input(n)` does not have, such as the state that the action needs. */
  readonly record?: Values;
}
