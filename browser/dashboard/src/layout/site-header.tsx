import type { ReactNode } from 'react';
import { SITE_LINKS } from '../../../../src/doors/web/shown/site-links.js';
import { GATEWAY_NAME } from '../../../gateway.js';
import { Logo } from './logo.js';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      /** Defined by `design/theme.js`. */
      'theme-switch': HTMLAttributes<HTMLElement>;
    }
  }
}

/** The bar that all pages of the gateway share; `src/doors/web/pages` writes the same one for the pages without React. */
export function SiteHeader({ children }: { children?: ReactNode }) {
  return (
    <header className="site-header">
      <Logo />
      {children && <div className="site-context">{children}</div>}
      <nav className="site-nav" aria-label={GATEWAY_NAME}>
        <ul>
          {SITE_LINKS.map(({ href, label }) => (
            <li key={href}>
              <a href={href} aria-current={href === '/dashboard/' ? 'true' : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <theme-switch />
    </header>
  );
}
