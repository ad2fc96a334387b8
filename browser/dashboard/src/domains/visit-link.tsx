import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';

interface Props {
  hostname: string;
  children: ReactNode;
}

/** A link to the domain itself, in another tab. */
export function VisitLink({ hostname, children }: Props) {
  return (
    <a className="visit" href={`https://${hostname}`} target="_blank" rel="noreferrer">
      {children}
      <ExternalLink size={14} aria-hidden="true" />
      <span className="unseen"> (opens in a new tab)</span>
    </a>
  );
}
