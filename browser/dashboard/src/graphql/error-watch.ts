import { ApolloLink } from '@apollo/client';
import { tap } from 'rxjs';
import { refusalOf } from '../errors/refusal.js';
import { end, session } from '../session/session.js';

const NO_LONGER =
  'The API key of this session is no longer accepted: it was revoked, or it expired. Sign in with another key.';

/** Ends the session as soon as its key is refused, on any page. */
export const errorWatch = new ApolloLink((operation, forward) => {
  const asked = session.get().token;
  const look = (code: unknown) => {
    // A late response to a replaced key says nothing about the current one.
    if (code === 'UNAUTHORIZED' && asked !== null && session.get().token === asked) end(NO_LONGER);
  };
  return forward(operation).pipe(
    tap({
      next: (result) => look(result.errors?.[0]?.extensions?.code),
      error: (error) => look(refusalOf(error)?.code),
    }),
  );
});
