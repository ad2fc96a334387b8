import type { ReactNode } from 'react';
import { Logo } from './logo.js';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      /** Defined by `design/theme.js`. */
      'theme-switch': HTMLAttributes<HTMLElement>;
    }
  }
}

const PAGES = [
  { href: '/dashboard/', label: 'Dashboard' },
  { href: '/v1/docs', label: 'REST' },
  { href: '/graphiql', label: 'GraphiQL' },
  { href: '/graphql', label: 'Sandbox' },
];

/** The bar that all pages of the gateway share; `src/web` writes the same one for the pages without React. */
export function SiteHeader({ children }: { children?: ReactNode }) {
  return (
    <header className="site-header">
      <Logo />
      {children && <div className="site-context">{children}</div>}
      <nav className="site-nav" aria-label="Petstore Gateway">
        <ul>
          {PAGES.map(({ href, label }) => (
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
