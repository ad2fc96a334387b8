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
export { boolean } from './noun/kinds/boolean.js';
export { choice } from './noun/kinds/choice.js';
export { date } from './noun/kinds/date.js';
export { dateTime } from './noun/kinds/date-time.js';
export { decimal } from './noun/kinds/decimal.js';
export { int64 } from './noun/kinds/int64.js';
export { integer } from './noun/kinds/integer.js';
export type { Field, FieldOf, FieldOptions } from './noun/kinds/kind.js';
export { reference } from './noun/kinds/reference.js';
export { text } from './noun/kinds/text.js';
export { texts } from './noun/kinds/texts.js';
