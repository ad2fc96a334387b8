import { ApolloLink } from '@apollo/client';
import { map, tap } from 'rxjs';
import { type Refusal, refusalOf } from '../errors/refusal.js';
import { createStore } from '../store.js';
import type { StandingFragment } from './generated.js';

/** The remaining quota and the key's ban state, from the newest response; null = no response yet. */
export const standing = createStore<StandingFragment | null>(null);

/** Requests the state of the quota with each response: on a request that is sent anyway it costs nothing. */
export const standingWatch = new ApolloLink((operation, forward) => {
  operation.extensions = { ...operation.extensions, rateLimit: true };
  return forward(operation).pipe(
    map((result) => {
      const { rateLimit } = (result.extensions ?? {}) as { rateLimit?: StandingFragment };
      if (rateLimit) note(rateLimit);
      else noteRefusal(result.errors?.[0]?.extensions);
      return result;
    }),
    tap({ error: (error) => noteRefusal(refusalOf(error)) }),
  );
});

/** A response about pets alone has no state of the management allowance, so the known state is kept. */
function note(told: StandingFragment): void {
  standing.set({ ...told, management: told.management ?? standing.get()?.management ?? null });
}

/** A refused request gives its reason but no standing: the values for the bars are derived here. */
function noteRefusal(refusal: Partial<Record<keyof Refusal, unknown>> | undefined): void {
  const known = standing.get();
  if (!known || typeof refusal?.retryAfterSeconds !== 'number') return;
  const until = new Date(Date.now() + refusal.retryAfterSeconds * 1000).toISOString();
  const spent = { remaining: 0, resetAt: until };
  // Only limits other than the plan's quota give their number.
  if (refusal.limit !== undefined) {
    if (refusal.code === 'RATE_LIMITED_MINUTE' && known.management)
      standing.set({ ...known, management: { ...known.management, ...spent } });
    return;
  }
  if (refusal.code === 'RATE_LIMITED_MINUTE')
    standing.set({ ...known, minute: { ...known.minute, ...spent } });
  if (refusal.code === 'RATE_LIMITED_DAY' && known.day)
    standing.set({ ...known, day: { ...known.day, ...spent } });
  if (refusal.code === 'KEY_BANNED') {
    const ban = known.ban ?? { __typename: 'Ban' as const, strikes: 0, nextStepMinutes: 1, until: null };
    standing.set({ ...known, ban: { ...ban, until } });
  }
}
