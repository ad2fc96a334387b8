import { type Actor, type Caller, requireScope, type ServiceCall } from '../../ground/kernel/caller.js';

/**
 * An operator, as an actor, changes any key. A caller changes keys of its own project. Without the scope `keys` it gets
 * `AppError forbidden`. A key of another project is not found.
 */
export type KeyChanger = Actor | ServiceCall;

/** Null = an operator. */
export function callerOf(by: KeyChanger): Caller | null {
  if (!('caller' in by)) return null;
  requireScope(by.caller, 'keys');
  return by.caller;
}

export function actorOf(by: KeyChanger): Actor {
  return 'caller' in by ? by.actor : by;
}
