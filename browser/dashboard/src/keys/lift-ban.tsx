import { useMutation } from '@apollo/client/react';
import { NOUN_WORDS } from '../../../gateway.js';
import { Confirmation } from '../elements/confirmation.js';
import { tellDone } from '../elements/toaster.js';
import { type KeyPartsFragment, UnbanApiKeyDocument } from '../graphql/generated.js';
import { standing } from '../graphql/standing.js';

interface Props {
  apiKey: KeyPartsFragment;
  onClose: () => void;
}

export function LiftBan({ apiKey, onClose }: Props) {
  const [unban, { loading, error }] = useMutation(UnbanApiKeyDocument);
  const confirm = async () => {
    const sent = await unban({ variables: { id: apiKey.id } }).catch(() => null);
    if (!sent?.data) return;
    const known = standing.get();
    // The response tells the state before the mutation.
    if (apiKey.isCurrent && known) standing.set({ ...known, ban: null });
    onClose();
    tellDone(
      <>
        Lifted the ban of <bdi>{apiKey.name}</bdi>
      </>,
    );
  };
  return (
    <Confirmation
      title={
        <>
          Lift the ban of <bdi>{apiKey.name}</bdi>?
        </>
      }
      verb="Lift ban"
      isHarmless
      isBusy={loading}
      error={error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        Requests for {NOUN_WORDS} with <code>{apiKey.prefix}…</code> work again at once, within the quota. Its
        strikes are forgotten.
      </p>
      <p>
        A client that still ignores <code>Retry-After</code> is banned again: correct it first.
      </p>
    </Confirmation>
  );
}
