import type { MouseEvent, ReactNode } from 'react';
import { BASE, go } from './location.js';

interface Props {
  /** Below `/dashboard`. */
  to: string;
  isCurrent?: boolean;
  className?: string;
  children: ReactNode;
}

/** A link between pages of the dashboard, without a page load. */
export function Link({ to, isCurrent = false, className, children }: Props) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a
      href={`${BASE}${to}`}
      className={className}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}
