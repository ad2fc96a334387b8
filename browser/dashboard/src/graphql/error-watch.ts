import { ApolloLink } from '@apollo/client';
import { tap } from 'rxjs';
import { refusalOf } from '../errors/refusal.js';
import { whyRefused } from '../session/known-keys.js';
import { end, session } from '../session/session.js';

/** Ends the session as soon as its key is refused, on any page. */
export const errorWatch = new ApolloLink((operation, forward) => {
  const asked = session.get().token;
  const look = (code: unknown) => {
    // A late response to a replaced key says nothing about the current one.
    if (code !== 'UNAUTHORIZED' || asked === null || session.get().token !== asked) return;
    const why = whyRefused(asked) ?? 'it was revoked, or it expired';
    end(`The API key of this session is no longer accepted: ${why}. Sign in with another key.`);
  };
  return forward(operation).pipe(
    tap({
      next: (result) => look(result.errors?.[0]?.extensions?.code),
      error: (error) => look(refusalOf(error)?.code),
    }),
  );
});
