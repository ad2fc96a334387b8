import { Notice } from '../elements/notice.js';
import type { SessionQuery } from '../graphql/generated.js';
import { useSession } from '../session/signed-in.js';

/** Whether a domain may be added; a project that is not published is published with it. */
export function mayHaveDomains({ plan, domainTarget }: SessionQuery['project']): boolean {
  return plan !== 'FREE' && domainTarget !== null;
}

/** The conditions for domains that the project does not meet yet. */
export function DomainConditions() {
  const { project } = useSession();
  if (project.domainTarget === null) return <NoTarget />;
  if (project.plan !== 'FREE') return null;
  return (
    <Notice tone="warn" title="Custom domains need the plan Pro or above.">
      <p>
        This project is on the plan Free. Ask the operator of the gateway for an upgrade, then reload this
        page.
      </p>
    </Notice>
  );
}

export function NoTarget() {
  return (
    <Notice tone="warn" title="This gateway has no public host name yet.">
      <p>
        A domain points to that name with a CNAME record, so none can work before. The operator of the gateway
        sets it as <code>PLATFORM_HOST</code> and restarts the gateway. Then reload this page.
      </p>
    </Notice>
  );
}
