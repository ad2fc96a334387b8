import { ApolloLink } from '@apollo/client';
import { map, tap } from 'rxjs';
import { type Refusal, refusalOf } from '../errors/refusal.js';
import { createStore } from '../store.js';
import type { StandingFragment } from './generated.js';

/** What is left of the quota and how the key stands, as the newest answer said; null = nothing was asked yet. */
export const standing = createStore<StandingFragment | null>(null);

/** Asks each answer for the state of the quota: it costs nothing on a request that is made anyway. */
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

/** An answer about pets alone says nothing of the allowance for everything else. */
function note(told: StandingFragment): void {
  standing.set({ ...told, management: told.management ?? standing.get()?.management ?? null });
}

/** A refused request tells its reason and no standing: what it means for the bars is worked out here. */
function noteRefusal(refusal: Partial<Record<keyof Refusal, unknown>> | undefined): void {
  const known = standing.get();
  if (!known || typeof refusal?.retryAfterSeconds !== 'number') return;
  const until = new Date(Date.now() + refusal.retryAfterSeconds * 1000).toISOString();
  const spent = { remaining: 0, resetAt: until };
  // A limit beside the plan's quota says its number.
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
