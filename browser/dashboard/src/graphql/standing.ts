import { ApolloLink } from '@apollo/client';
import { map, tap } from 'rxjs';
import { type Refusal, refusalOf } from '../errors/refusal.js';
import { session } from '../session/session.js';
import { createStore } from '../store.js';
import type { StandingFragment } from './generated.js';

const STORED_AS = 'petstore-standing';
const PREFIX_LENGTH = 9;

/** The remaining quota and the key's ban state, from the newest response; null = no response yet. A reload keeps it. */
export const standing = createStore<StandingFragment | null>(stored());
standing.subscribe(() => sessionStorage.setItem(STORED_AS, JSON.stringify([keyPrefix(), standing.get()])));

/** The state of the signed-in key that the tab knew before a reload. */
function stored(): StandingFragment | null {
  const [prefix, known] = JSON.parse(sessionStorage.getItem(STORED_AS) ?? '[]');
  return prefix !== undefined && prefix === keyPrefix() ? known : null;
}

/** The public part of the key, as every page shows it. */
function keyPrefix(): string | undefined {
  return session.get().token?.slice(0, PREFIX_LENGTH);
}

/** Requests the state of the quota with each response: on a request that is sent anyway it costs nothing. */
export const standingWatch = new ApolloLink((operation, forward) => {
  operation.extensions = { ...operation.extensions, rateLimit: true };
  return forward(operation).pipe(
    map((result) => {
      const { rateLimit } = (result.extensions ?? {}) as { rateLimit?: StandingFragment };
      if (rateLimit) note(rateLimit);
      noteRefusal(result.errors?.[0]?.extensions);
      return result;
    }),
    tap({ error: (error) => noteRefusal(refusalOf(error)) }),
  );
});

/** A response about nouns alone has no state of the management allowance, so the known state is kept. */
function note(told: StandingFragment): void {
  const known = standing.get();
  const { minute, day, ban } = told;
  standing.set({
    ...told,
    minute: isLonger(known?.minute, minute) ? known.minute : minute,
    day: day && isLonger(known?.day, day) ? known.day : day,
    ban: ban?.until && known?.ban?.until && known.ban.until > ban.until ? known.ban : ban,
    management: told.management ?? known?.management ?? null,
  });
}

type Window = StandingFragment['minute'];

/**
 * Both say that the window is spent, and the known end is later. A known end may follow from Retry-After, which does not
 * depend on the clock of this computer.
 */
function isLonger<Known extends Window>(known: Known | null | undefined, told: Window): known is Known {
  return known?.remaining === 0 && told.remaining === 0 && known.resetAt > told.resetAt;
}

/** The reason of a refusal, and Retry-After on the clock of this computer, are newer than all that is known. */
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
