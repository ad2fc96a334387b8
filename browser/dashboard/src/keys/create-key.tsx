import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { NOUNS } from '../../../gateway.js';
import { Dialog } from '../elements/dialog.js';
import { Field } from '../elements/field.js';
import { FormActions } from '../elements/form-actions.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { type ApiKeyScope, ApiKeysDocument, CreateApiKeyDocument } from '../graphql/generated.js';
import { scopeOf } from '../items/item.js';
import { useSession } from '../session/signed-in.js';
import { NewKeyToken } from './new-key-token.js';
import { ScopeChoice } from './scope-choice.js';

const DAY_MS = 86_400_000;
const EXPIRIES = [
  { days: 0, label: 'Never' },
  { days: 30, label: 'In 30 days' },
  { days: 90, label: 'In 90 days' },
  { days: 365, label: 'In a year' },
];

export function CreateKey({ onClose }: { onClose: () => void }) {
  const { scopes: mine } = useSession().apiKey;
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly ApiKeyScope[]>(
    NOUNS.map((noun) => scopeOf(noun, 'READ')).filter((scope) => mine.includes(scope)),
  );
  const [days, setDays] = useState(90);
  const [isStored, setStored] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  // The response contains the token, which must not stay in the cache.
  const [create, { data, loading, error }] = useMutation(CreateApiKeyDocument, {
    fetchPolicy: 'no-cache',
    refetchQueries: [ApiKeysDocument],
  });

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return setProblem('Give it a name that says who uses it.');
    setProblem(null);
    if (scopes.length === 0) return;
    const expiresAt = days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString();
    await create({ variables: { input: { name: name.trim(), scopes: [...scopes], expiresAt } } }).catch(
      () => {},
    );
  };

  const made = data?.createApiKey;
  return (
    <Dialog
      title={
        made ? (
          <>
            The key <bdi>{made.key.name}</bdi>
          </>
        ) : (
          'Create an API key'
        )
      }
      isPinned={made !== undefined && !isStored}
      onClose={onClose}
    >
      {made ? (
        <NewKeyToken token={made.token} isStored={isStored} onStored={setStored} onClose={onClose}>
          <p>It works from now on.</p>
        </NewKeyToken>
      ) : (
        <form onSubmit={submit} noValidate>
          <Field
            label="Name"
            hint="The person or program that uses it, such as storefront."
            problem={problem}
          >
            {(described) => (
              <input
                {...described}
                value={name}
                onChange={(event) => setName(event.target.value)}
                autoComplete="off"
              />
            )}
          </Field>
          <ScopeChoice chosen={scopes} onChange={setScopes} />
          {scopes.length === 0 && <p className="problem">Choose at least one scope.</p>}
          <Field label="Expires">
            {(described) => (
              <select {...described} value={days} onChange={(event) => setDays(Number(event.target.value))}>
                {EXPIRIES.map((each) => (
                  <option key={each.days} value={each.days}>
                    {each.label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {error && <ErrorNotice error={error} />}
          <FormActions
            submit="Create key"
            submitting="Creating…"
            isBusy={loading}
            error={error}
            onCancel={onClose}
          />
        </form>
      )}
    </Dialog>
  );
}
