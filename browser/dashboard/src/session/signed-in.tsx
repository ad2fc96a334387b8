import { useQuery } from '@apollo/client/react';
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { SessionDocument, type SessionQuery } from '../graphql/generated.js';
import { QuotaNotice } from '../layout/quota-notice.js';
import { SiteHeader } from '../layout/site-header.js';
import { rememberKey } from './known-keys.js';
import { end } from './session.js';

const Context = createContext<SessionQuery | null>(null);

/** The key that is signed in, and its project. */
export function useSession(): SessionQuery {
  const known = useContext(Context);
  if (!known) throw new Error('useSession needs a SignedIn around it');
  return known;
}

export function SignedIn({ children }: { children: ReactNode }) {
  const { data, error, refetch } = useQuery(SessionDocument);
  useEffect(() => {
    if (data) rememberKey(data.apiKey);
  }, [data]);
  if (data) return <Context value={data}>{children}</Context>;
  return (
    <>
      <SiteHeader />
      <main>
        {error ? (
          <NotOpened error={error} onRetry={() => void refetch().catch(() => {})} />
        ) : (
          <Loading what="the project" shape="cards" />
        )}
      </main>
    </>
  );
}

/** The session opens automatically as soon as the gateway accepts requests of the key again. */
function NotOpened({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { isBlocked } = useBlock(error);
  const wasBlocked = useRef(isBlocked);
  useEffect(() => {
    if (wasBlocked.current && !isBlocked) onRetry();
    wasBlocked.current = isBlocked;
  }, [isBlocked, onRetry]);
  return (
    <>
      <QuotaNotice />
      <h1>The session could not be opened</h1>
      <ErrorNotice error={error} onRetry={onRetry} />
      <div className="actions">
        <button type="button" onClick={() => end()}>
          Sign in with another key
        </button>
      </div>
    </>
  );
}
