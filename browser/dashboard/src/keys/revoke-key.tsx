import { useMutation } from '@apollo/client/react';
import { Confirmation } from '../elements/confirmation.js';
import { tellDone } from '../elements/toaster.js';
import { type KeyPartsFragment, RevokeApiKeyDocument } from '../graphql/generated.js';
import { end } from '../session/session.js';

interface Props {
  apiKey: KeyPartsFragment;
  onClose: () => void;
}

export function RevokeKey({ apiKey, onClose }: Props) {
  const [revoke, { loading, error }] = useMutation(RevokeApiKeyDocument);
  const confirm = async () => {
    const sent = await revoke({ variables: { id: apiKey.id } }).catch(() => null);
    if (!sent?.data) return;
    onClose();
    tellDone(
      <>
        Revoked <bdi>{apiKey.name}</bdi>
      </>,
    );
    if (apiKey.isCurrent) end('You revoked the key of this session. Sign in with another key.');
  };
  return (
    <Confirmation
      title={
        <>
          Revoke the key <bdi>{apiKey.name}</bdi>?
        </>
      }
      verb="Revoke"
      isBusy={loading}
      error={error}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        Every request with <code>{apiKey.prefix}…</code> is refused from then on, with status 401. This can’t
        be undone. To replace a key that is in use, roll it instead.
      </p>
      {apiKey.isCurrent && (
        <p>
          <strong>It is the key of this session: you will be signed out.</strong>
        </p>
      )}
    </Confirmation>
  );
}
