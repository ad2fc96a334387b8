import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { Dialog } from '../elements/dialog.js';
import { Field } from '../elements/field.js';
import { FormActions } from '../elements/form-actions.js';
import { tellDone } from '../elements/toaster.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { fieldProblem } from '../errors/in-words.js';
import { type KeyPartsFragment, RenameApiKeyDocument } from '../graphql/generated.js';

interface Props {
  apiKey: KeyPartsFragment;
  onClose: () => void;
}

/** Gives a key another name. Its token, its scopes and its history stay the same. */
export function RenameKey({ apiKey, onClose }: Props) {
  const [name, setName] = useState(apiKey.name);
  const [missing, setMissing] = useState<string | null>(null);
  const [rename, { loading, error }] = useMutation(RenameApiKeyDocument);
  const refused = fieldProblem(error, 'name');

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const wanted = name.trim();
    setMissing(wanted === '' ? 'Give it a name that says who uses it.' : null);
    if (wanted === '') return;
    if (wanted === apiKey.name) return onClose();
    const sent = await rename({ variables: { id: apiKey.id, name: wanted } }).catch(() => null);
    if (!sent?.data) return;
    onClose();
    tellDone(
      <>
        Renamed to <bdi>{sent.data.renameApiKey.name}</bdi>
      </>,
    );
  };

  return (
    <Dialog title="Rename the key" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Field
          label="Name"
          hint="Usage, requests and the audit log show the new name for all of its time. The key itself does not change."
          problem={missing ?? refused}
        >
          {(described) => (
            <input
              {...described}
              value={name}
              onChange={({ target }) => setName(target.value)}
              onFocus={({ target }) => target.select()}
              dir="auto"
              autoComplete="off"
            />
          )}
        </Field>
        {error && refused === null ? <ErrorNotice error={error} /> : null}
        <FormActions
          submit="Rename"
          submitting="Renaming…"
          isBusy={loading}
          error={error}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
