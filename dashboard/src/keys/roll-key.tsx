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

/** Replaces a key by a new one; the old one goes on working for a while, so that nothing stops in between. */
export function RollKey({ apiKey, onClose }: Props) {
  const client = useApolloClient();
  const [overlapSeconds, setOverlapSeconds] = useState(86_400);
  const [roll, { data, loading, error }] = useMutation(RollApiKeyDocument, { fetchPolicy: 'no-cache' });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const sent = await roll({ variables: { id: apiKey.id, overlapSeconds } }).catch(() => null);
    if (!sent?.data) return;
    if (apiKey.isCurrent) begin(sent.data.rollApiKey.token);
    await client.refetchQueries({ include: [ApiKeysDocument, SessionDocument] }).catch(() => {});
  };
  if (data) {
    return (
      <NewKeyToken
        title={
          <>
            The new key <bdi>{apiKey.name}</bdi>
          </>
        }
        token={data.rollApiKey.token}
        onClose={onClose}
      >
        <p>
          {overlapSeconds === 0
            ? 'The old key has stopped working.'
            : 'The old key works until the overlap ends. Put the new one everywhere before.'}
          {apiKey.isCurrent && ' This session uses the new key already.'}
        </p>
      </NewKeyToken>
    );
  }
  return (
    <Dialog
      title={
        <>
          Roll the key <bdi>{apiKey.name}</bdi>
        </>
      }
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <p>Makes a new key with the same scopes. Both work during the overlap; then the old one ends.</p>
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
        <FormActions submit="Roll key" submitting="Rolling…" isBusy={loading} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
