import { useApolloClient, useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { Dialog } from '../elements/dialog.js';
import { Field } from '../elements/field.js';
import { FormActions } from '../elements/form-actions.js';
import { ErrorNotice } from '../errors/error-notice.js';
import {
  ApiKeysDocument,
  type KeyPartsFragment,
  RollApiKeyDocument,
  SessionDocument,
} from '../graphql/generated.js';
import { begin } from '../session/session.js';
import { NewKeyToken } from './new-key-token.js';

const OVERLAPS = [
  { seconds: 0, label: 'Not at all: it stops now' },
  { seconds: 3_600, label: 'For an hour' },
  { seconds: 86_400, label: 'For a day' },
  { seconds: 604_800, label: 'For a week' },
];

interface Props {
  apiKey: KeyPartsFragment;
  onClose: () => void;
}

/** Replaces a key by a new one. The old key stays valid for a while, so that no client is interrupted. */
export function RollKey({ apiKey, onClose }: Props) {
  const client = useApolloClient();
  const [overlapSeconds, setOverlapSeconds] = useState(86_400);
  const [isStored, setStored] = useState(false);
  const [roll, { data, loading, error }] = useMutation(RollApiKeyDocument, { fetchPolicy: 'no-cache' });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const sent = await roll({ variables: { id: apiKey.id, overlapSeconds } }).catch(() => null);
    if (!sent?.data) return;
    if (apiKey.isCurrent) begin(sent.data.rollApiKey.token);
    await client.refetchQueries({ include: [ApiKeysDocument, SessionDocument] }).catch(() => {});
  };
  const made = data?.rollApiKey;
  return (
    <Dialog
      title={
        <>
          {made ? 'The new key' : 'Roll the key'} <bdi>{apiKey.name}</bdi>
        </>
      }
      isPinned={made !== undefined && !isStored}
      onClose={onClose}
    >
      {made ? (
        <NewKeyToken token={made.token} isStored={isStored} onStored={setStored} onClose={onClose}>
          <p>
            {overlapSeconds === 0
              ? 'The old key has stopped working.'
              : 'The old key works until the overlap ends. Replace it everywhere before then.'}
            {apiKey.isCurrent && ' This session uses the new key already.'}
          </p>
        </NewKeyToken>
      ) : (
        <form onSubmit={submit}>
          <p>
            Creates a new key with the same scopes. Both keys work during the overlap; then the old key ends.
          </p>
          <Field label="How long the old key still works">
            {(described) => (
              <select
                {...described}
                value={overlapSeconds}
                onChange={(event) => setOverlapSeconds(Number(event.target.value))}
              >
                {OVERLAPS.map(({ seconds, label }) => (
                  <option key={seconds} value={seconds}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {error && <ErrorNotice error={error} />}
          <FormActions
            submit="Roll key"
            submitting="Rolling…"
            isBusy={loading}
            error={error}
            onCancel={onClose}
          />
        </form>
      )}
    </Dialog>
  );
}
