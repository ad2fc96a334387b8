import { ApolloLink } from '@apollo/client';
import type { DocumentNode } from 'graphql';
import { of } from 'rxjs';
import type { StandingFragment } from './generated.js';
import { standing } from './standing.js';

/** Why the gateway refuses requests for pets, and until when. */
export interface PetsPause {
  code: 'KEY_BANNED' | 'RATE_LIMITED_DAY' | 'RATE_LIMITED_MINUTE';
  untilMs: number;
}

/** The pause that the last answers ask for; null = requests for pets may be sent. */
export function pauseOf(known: StandingFragment | null, nowMs: number): PetsPause | null {
  if (!known) return null;
  const { ban, day, minute } = known;
  const ends = {
    KEY_BANNED: ban?.until ? Date.parse(ban.until) : 0,
    RATE_LIMITED_DAY: day?.remaining === 0 ? Date.parse(day.resetAt) : 0,
    RATE_LIMITED_MINUTE: minute.remaining === 0 ? Date.parse(minute.resetAt) : 0,
  };
  const codes: PetsPause['code'][] = ['KEY_BANNED', 'RATE_LIMITED_DAY', 'RATE_LIMITED_MINUTE'];
  const code = codes.find((each) => ends[each] > nowMs);
  return code ? { code, untilMs: Math.max(...Object.values(ends)) } : null;
}

/** Refuses a request for pets here during a pause: at the gateway it would be refused too, and count as a strike. */
export const petsPause = new ApolloLink((operation, forward) => {
  const pause = isAboutPets(operation.query) ? pauseOf(standing.get(), Date.now()) : null;
  if (!pause) return forward(operation);
  const retryAfterSeconds = Math.ceil((pause.untilMs - Date.now()) / 1000);
  const message = 'Requests for pets are paused.';
  return of({ data: null, errors: [{ message, extensions: { code: pause.code, retryAfterSeconds } }] });
});

/** Whether a field of the operation spends units of the plan: all of them are named after the pet. */
function isAboutPets({ definitions }: DocumentNode): boolean {
  return definitions
    .flatMap((each) => (each.kind === 'OperationDefinition' ? each.selectionSet.selections : []))
    .some((field) => field.kind === 'Field' && /pet/i.test(field.name.value));
}
