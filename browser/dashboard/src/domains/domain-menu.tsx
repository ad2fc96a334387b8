import { useMutation } from '@apollo/client/react';
import { PanelRight, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Confirmation } from '../elements/confirmation.js';
import { Menu } from '../elements/menu.js';
import { tellDone } from '../elements/toaster.js';
import { type DomainSummaryFragment, DomainsDocument, RemoveDomainDocument } from '../graphql/generated.js';
import { go } from '../routing/location.js';

interface Props {
  domain: DomainSummaryFragment;
  /** Whether the menu links to the domain's own page; false on that page. */
  showsDetails?: boolean;
}

/** The menu next to a domain. */
export function DomainMenu({ domain, showsDetails = true }: Props) {
  const [isRemoving, setRemoving] = useState(false);
  const [remove, { loading, error }] = useMutation(RemoveDomainDocument, {
    refetchQueries: [DomainsDocument],
    awaitRefetchQueries: true,
  });
  const { id, hostname } = domain;
  const confirm = async () => {
    const { data } = await remove({ variables: { id } }).catch(() => ({ data: null }));
    if (!data) return;
    setRemoving(false);
    tellDone(`Removed ${hostname}`);
    // The domain's own page no longer exists.
    if (!showsDetails) go('/settings/domains', { replace: true });
  };
  const details = { label: 'Show details', icon: PanelRight, onChoose: () => go(`/settings/domains/${id}`) };
  const removal = { label: 'Remove…', icon: Trash2, isDanger: true, onChoose: () => setRemoving(true) };
  return (
    <>
      <Menu label={`Actions for ${hostname}`} items={showsDetails ? [details, removal] : [removal]} />
      {isRemoving && (
        <Confirmation
          title={`Remove ${hostname}?`}
          verb="Remove"
          isBusy={loading}
          error={error}
          onConfirm={() => void confirm()}
          onClose={() => setRemoving(false)}
        >
          <p>This stops at once, also on open connections:</p>
          <ul>
            {domain.serving ? (
              <li>
                {domain.redirect
                  ? `the redirect from https://${hostname} to ${domain.redirect.to}`
                  : `every request to https://${hostname}`}
              </li>
            ) : (
              <li>the checks of its DNS records, and the order of its certificate</li>
            )}
            {domain.primary && <li>its role as the primary domain</li>}
            <li>the renewal of its certificate, whose key is deleted</li>
            <li>any redirect of another domain to it</li>
          </ul>
          <p>
            The DNS records stay as they are: delete them afterwards. The project stays available at its other
            addresses.
          </p>
        </Confirmation>
      )}
    </>
  );
}
