import { ApolloLink } from '@apollo/client';
import type { DocumentNode } from 'graphql';
import { of } from 'rxjs';
import { NOUN_WORDS, NOUNS } from '../../../gateway.js';
import { rootFieldsOf } from '../items/item.js';
import type { StandingFragment } from './generated.js';
import { standing } from './standing.js';

/** Why the gateway refuses requests for nouns, and until when. */
export interface PlanPause {
  code: 'KEY_BANNED' | 'RATE_LIMITED_DAY' | 'RATE_LIMITED_MINUTE';
  untilMs: number;
}

/** The pause that the last answers ask for; null = requests for nouns may be sent. */
export function pauseOf(known: StandingFragment | null, nowMs: number): PlanPause | null {
  if (!known) return null;
  const { ban, day, minute } = known;
  const ends = {
    KEY_BANNED: ban?.until ? Date.parse(ban.until) : 0,
    RATE_LIMITED_DAY: day?.remaining === 0 ? Date.parse(day.resetAt) : 0,
    RATE_LIMITED_MINUTE: minute.remaining === 0 ? Date.parse(minute.resetAt) : 0,
  };
  const codes: PlanPause['code'][] = ['KEY_BANNED', 'RATE_LIMITED_DAY', 'RATE_LIMITED_MINUTE'];
  const code = codes.find((each) => ends[each] > nowMs);
  return code ? { code, untilMs: Math.max(...Object.values(ends)) } : null;
}

/** Refuses a request for a noun here during a pause: at the gateway it would be refused too, and count as a strike. */
export const planPause = new ApolloLink((operation, forward) => {
  const pause = spendsPlan(operation.query) ? pauseOf(standing.get(), Date.now()) : null;
  if (!pause) return forward(operation);
  const retryAfterSeconds = Math.ceil((pause.untilMs - Date.now()) / 1000);
  const message = `Requests for ${NOUN_WORDS} are paused.`;
  return of({ data: null, errors: [{ message, extensions: { code: pause.code, retryAfterSeconds } }] });
});

/** The root fields that spend units of the plan. */
const PLAN_FIELDS = new Set(NOUNS.flatMap((noun) => Object.values(rootFieldsOf(noun))));

function spendsPlan({ definitions }: DocumentNode): boolean {
  return definitions
    .flatMap((each) => (each.kind === 'OperationDefinition' ? each.selectionSet.selections : []))
    .some((field) => field.kind === 'Field' && PLAN_FIELDS.has(field.name.value));
}
