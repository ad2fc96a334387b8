import type { ReactNode } from 'react';
import { Notice } from '../elements/notice.js';
import { end } from '../session/session.js';
import { useSession } from '../session/signed-in.js';
import { Logo } from './logo.js';
import { Navigation } from './navigation.js';
import { QuotaNotice } from './quota-notice.js';

/** What surrounds every page of a session. */
export function Shell({ children }: { children: ReactNode }) {
  const { apiKey, project } = useSession();
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the page
      </a>
      <header className="side">
        <Logo />
        <div className="who">
          <p className="who-project">
            <bdi>{project.name}</bdi>
          </p>
          <p className="who-key">
            Key <bdi>{apiKey.name}</bdi> <code>{apiKey.prefix}…</code>
          </p>
        </div>
        <Navigation />
        <button type="button" className="sign-out small" onClick={() => end('You are signed out.')}>
          Sign out
        </button>
      </header>
      <main id="content" tabIndex={-1}>
        <QuotaNotice />
        {apiKey.scopes.length === 0 && (
          <Notice tone="warn" title="This API key has no scopes.">
            <p>It shows the overview and nothing else. Sign in with a key that has scopes to do more.</p>
          </Notice>
        )}
        {children}
      </main>
    </div>
  );
}
