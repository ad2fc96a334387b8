import { useQuery } from '@apollo/client/react';
import { ArrowLeft } from 'lucide-react';
import { useCallback } from 'react';
import { Loading } from '../elements/loading.js';
import { Notice } from '../elements/notice.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { refusalOf } from '../errors/refusal.js';
import { DomainDocument } from '../graphql/generated.js';
import { LOOK_ANYWAY_MS, useLive } from '../live/use-live.js';
import { Link } from '../routing/link.js';
import { Page } from '../routing/page.js';
import { NeedsScope } from '../session/needs-scope.js';
import { DomainDetails } from './domain-details.js';
import { DomainMenu } from './domain-menu.js';
import { useProgress } from './use-progress.js';
import { VisitLink } from './visit-link.js';

export function DomainPage({ id }: { id: string }) {
  return (
    <>
      <p className="crumb">
        <Link to="/settings/domains">
          <ArrowLeft size={14} aria-hidden="true" /> All domains
        </Link>
      </p>
      <NeedsScope scope="DOMAINS" to="see or change domains">
        <Domain id={id} />
      </NeedsScope>
    </>
  );
}

function Domain({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(DomainDocument, {
    variables: { id },
    fetchPolicy: 'cache-and-network',
    nextFetchPolicy: 'cache-first',
  });
  const look = useCallback(() => refetch(), [refetch]);
  const domain = data?.domain ?? undefined;
  const { isFollowed } = useLive(look, LOOK_ANYWAY_MS, { waitsFirst: true, updates: 'DOMAINS' });
  useProgress(domain, look, isFollowed);
  if (domain) {
    return (
      <Page
        title={domain.hostname}
        heading={
          domain.serving ? (
            <VisitLink hostname={domain.hostname}>{domain.hostname}</VisitLink>
          ) : (
            domain.hostname
          )
        }
        actions={<DomainMenu domain={domain} showsDetails={false} />}
      >
        {error && <ErrorNotice error={error} onRetry={() => void look().catch(() => {})} />}
        <DomainDetails domain={domain} />
      </Page>
    );
  }
  if (!error) return <Loading what="the domain" shape="plot" />;
  return (
    <Page title="Domain">
      {refusalOf(error)?.code === 'NOT_FOUND' ? (
        <Notice tone="warn" title="There is no such domain in this project.">
          <p>It may have been removed. The list shows the attached domains.</p>
        </Notice>
      ) : (
        <ErrorNotice error={error} onRetry={() => void look().catch(() => {})} />
      )}
    </Page>
  );
}
