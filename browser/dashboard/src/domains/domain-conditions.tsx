import { Notice } from '../elements/notice.js';
import type { SessionQuery } from '../graphql/generated.js';
import { useSession } from '../session/signed-in.js';
import { Publish } from './publish.js';

export function mayHaveDomains({ plan, publishedAt }: SessionQuery['project']): boolean {
  return plan !== 'FREE' && publishedAt !== null;
}

/** The conditions for domains that the project does not meet yet. */
export function DomainConditions() {
  const { project } = useSession();
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
    <Notice tone="warn" title="This project is not published yet.">
      <p>A domain needs something to serve. Publish the project after its first deploy.</p>
      <Publish />
    </Notice>
  );
}
