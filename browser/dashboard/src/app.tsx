import { useEffect } from 'react';
import { NOUNS } from '../../gateway.js';
import { ActivityPage } from './activity/activity-page.js';
import { DomainPage } from './domains/domain-page.js';
import { DomainsPage } from './domains/domains-page.js';
import { client } from './graphql/client.js';
import { standing } from './graphql/standing.js';
import { ItemsPage } from './items/items-page.js';
import { KeysPage } from './keys/keys-page.js';
import { Shell } from './layout/shell.js';
import { OverviewPage } from './overview/overview-page.js';
import { RequestsPage } from './requests/requests-page.js';
import { Link } from './routing/link.js';
import { usePlace } from './routing/location.js';
import { Page } from './routing/page.js';
import { session } from './session/session.js';
import { SignInPage } from './session/sign-in-page.js';
import { SignedIn } from './session/signed-in.js';

export function App() {
  const { token } = session.use();
  useEffect(() => {
    if (token !== null) return;
    // Data that one key may see must not stay for the next one.
    void client.clearStore();
    standing.set(null);
  }, [token]);
  if (token === null) return <SignInPage />;
  return (
    <SignedIn>
      <Shell>
        <CurrentPage />
      </Shell>
    </SignedIn>
  );
}

function CurrentPage() {
  const { path } = usePlace();
  const [, domainId] = /^\/settings\/domains\/(\d+)$/.exec(path) ?? [];
  const noun = NOUNS.find(({ plural }) => path === `/${plural}`);
  if (path === '/') return <OverviewPage />;
  if (noun) return <ItemsPage key={noun.plural} noun={noun} />;
  if (path === '/requests') return <RequestsPage />;
  if (path === '/activity') return <ActivityPage />;
  if (path === '/settings/domains') return <DomainsPage />;
  if (domainId !== undefined) return <DomainPage key={domainId} id={domainId} />;
  if (path === '/settings/keys') return <KeysPage />;
  return (
    <Page title="No such page">
      <p>
        There is nothing at this address. <Link to="/">Go to the overview</Link>.
      </p>
    </Page>
  );
}
