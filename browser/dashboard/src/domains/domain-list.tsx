import type { DomainSummaryFragment } from '../graphql/generated.js';
import { Link } from '../routing/link.js';
import { DomainMenu } from './domain-menu.js';
import { DomainStatusBadge } from './domain-status-badge.js';
import { VisitLink } from './visit-link.js';

export function DomainList({ domains }: { domains: readonly DomainSummaryFragment[] }) {
  return (
    <ul className="rows" aria-label="Domains">
      {domains.map((domain) => (
        <li key={domain.id}>
          <div className="row-main">
            <p className="row-head">
              <Link to={`/settings/domains/${domain.id}`} className="row-title">
                {domain.hostname}
              </Link>
              {domain.primary && <span className="badge badge-busy">Primary domain</span>}
              {domain.serving && (
                <VisitLink hostname={domain.hostname}>
                  <span className="unseen">Visit {domain.hostname}</span>
                </VisitLink>
              )}
            </p>
            <p className="muted">
              {domain.redirect
                ? `Redirects to ${domain.redirect.to} (${domain.redirect.status})`
                : 'Serves the project'}
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
