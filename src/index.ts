/** The parts of an own gateway. Nothing else of the package can be imported, beside its other `exports`. */
export { createGateway, type Gateway } from './app/gateway.js';
export type { AppError, FieldProblem } from './ground/kernel/errors.js';
export {
  type DefinedNoun,
  defineNoun,
  type NewRecordOf,
  type NounParts,
  type OwnDoors,
  type OwnParts,
  type RecordOf,
} from './noun/define-noun.js';
export { refuse } from './noun/definition/action.js';
export { boolean } from './noun/definition/boolean.js';
export { choice } from './noun/definition/choice.js';
export { date } from './noun/definition/date.js';
export { dateTime } from './noun/definition/date-time.js';
export { decimal } from './noun/definition/decimal.js';
export { int64 } from './noun/definition/int64.js';
export { integer } from './noun/definition/integer.js';
export type { Field, FieldOf, FieldOptions } from './noun/definition/kind.js';
export { reference } from './noun/definition/reference.js';
export { text } from './noun/definition/text.js';
export { texts } from './noun/definition/texts.js';
