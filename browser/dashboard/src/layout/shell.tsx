import { LogOut } from 'lucide-react';
import type { ReactNode } from 'react';
import { Notice } from '../elements/notice.js';
import { Toaster } from '../elements/toaster.js';
import { Tasks } from '../item-files/tasks.js';
import { end } from '../session/session.js';
import { useSession } from '../session/signed-in.js';
import { Navigation } from './navigation.js';
import { QuotaNotice } from './quota-notice.js';
import { SiteHeader } from './site-header.js';

/** The frame around every page of a session. */
export function Shell({ children }: { children: ReactNode }) {
  const { apiKey, project } = useSession();
  return (
    <>
      <a className="skip" href="#content">
        Skip to the page
      </a>
      <SiteHeader>
        <bdi className="who-project">{project.name}</bdi>
        <span className="badge">{project.plan.charAt(0) + project.plan.slice(1).toLowerCase()}</span>
      </SiteHeader>
      <div className="shell">
        <aside className="side" aria-label="Project">
          <div className="side-inner">
            <Navigation />
            <div className="who">
              <p className="who-key">
                <span className="unseen">Signed in with the key </span>
                <bdi>{apiKey.name}</bdi>
                <code>{apiKey.prefix}…</code>
              </p>
              <button
                type="button"
                className="quiet icon small"
                aria-label="Sign out"
                onClick={() => end('You are signed out.')}
              >
                <LogOut size={16} aria-hidden="true" />
              </button>
            </div>
          </div>
        </aside>
        <main id="content" tabIndex={-1}>
          <QuotaNotice />
          {apiKey.scopes.length === 0 && (
            <Notice tone="warn" title="This API key has no scopes.">
              <p>It shows only the overview. Sign in with a key that has scopes to do more.</p>
            </Notice>
          )}
          {children}
        </main>
      </div>
      <Tasks />
      <Toaster />
    </>
  );
}
