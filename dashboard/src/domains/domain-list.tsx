import type { DomainSummaryFragment } from '../graphql/generated.js';
import { Link } from '../routing/link.js';
import { DomainMenu } from './domain-menu.js';
import { DomainStatusBadge } from './domain-status-badge.js';

export function DomainList({ domains }: { domains: readonly DomainSummaryFragment[] }) {
  return (
    <ul className="rows" aria-label="Domains">
      {domains.map((domain) => (
        <li key={domain.id}>
          <div className="row-main">
            <Link to={`/settings/domains/${domain.id}`} className="row-title">
              {domain.hostname}
            </Link>
            <p className="muted">
              {domain.redirect
                ? `Redirects to ${domain.redirect.to} (${domain.redirect.status})`
                : domain.primary
                  ? 'Primary domain'
                  : 'Answers as the project'}
              {domain.serving ? '' : ', not served yet'}
            </p>
          </div>
          <DomainStatusBadge status={domain.status} />
          <DomainMenu domain={domain} />
        </li>
      ))}
    </ul>
  );
}
