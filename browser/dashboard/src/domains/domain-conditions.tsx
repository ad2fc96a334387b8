import { useMutation } from '@apollo/client/react';
import { Notice } from '../elements/notice.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { PublishProjectDocument, type SessionQuery } from '../graphql/generated.js';
import { useSession } from '../session/signed-in.js';

export function mayHaveDomains({ plan, publishedAt }: SessionQuery['project']): boolean {
  return plan !== 'FREE' && publishedAt !== null;
}

/** The conditions for domains that the project does not meet yet. */
export function DomainConditions() {
  const { project } = useSession();
  const [publish, { loading, error }] = useMutation(PublishProjectDocument);
  if (project.plan === 'FREE') {
    return (
      <Notice tone="warn" title="Custom domains need the plan Pro or above.">
        <p>
          This project is on the plan Free. Ask the operator of the gateway for an upgrade, then reload this
          page.
        </p>
      </Notice>
    );
  }
  if (project.publishedAt !== null) return null;
  return (
    <Notice tone="warn" title="This project was never published.">
      <p>A domain needs something to serve. Deploy the project, or record a deploy that you made by hand.</p>
      {error && <ErrorNotice error={error} />}
      <button type="button" disabled={loading} onClick={() => void publish().catch(() => {})}>
        {loading ? 'Recording…' : 'Record a deploy now'}
      </button>
    </Notice>
  );
}
