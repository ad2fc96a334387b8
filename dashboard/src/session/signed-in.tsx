import { useQuery } from '@apollo/client/react';
import { createContext, type ReactNode, useContext } from 'react';
import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { SessionDocument, type SessionQuery } from '../graphql/generated.js';
import { end } from './session.js';

const Context = createContext<SessionQuery | null>(null);

/** The key that is signed in, and its project. */
export function useSession(): SessionQuery {
  const known = useContext(Context);
  if (!known) throw new Error('only pages of a session may ask for it');
  return known;
}

export function SignedIn({ children }: { children: ReactNode }) {
  const { data, error, refetch } = useQuery(SessionDocument);
  if (data) return <Context value={data}>{children}</Context>;
  return (
    <main className="sign-in">
      {error ? (
        <>
          <h1>The session could not be opened</h1>
          <ErrorNotice error={error} onRetry={() => void refetch().catch(() => {})} />
          <button type="button" onClick={() => end()}>
            Sign in with another key
          </button>
        </>
      ) : (
        <Loading what="the project" />
      )}
    </main>
  );
}
