import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { Dialog } from '../elements/dialog.js';
import { Field } from '../elements/field.js';
import { FormActions } from '../elements/form-actions.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { fieldProblem } from '../errors/in-words.js';
import { AddDomainDocument, DomainDocument, DomainsDocument } from '../graphql/generated.js';
import { go } from '../routing/location.js';

export function AddDomain({ onClose }: { onClose: () => void }) {
  const [hostname, setHostname] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [add, { loading, error }] = useMutation(AddDomainDocument, {
    refetchQueries: [DomainsDocument],
    update(cache, { data }) {
      if (!data) return;
      const { addDomain } = data;
      cache.writeQuery({
        query: DomainDocument,
        variables: { id: addDomain.id },
        data: { domain: addDomain },
      });
    },
  });

  const refused = fieldProblem(error, 'hostname');

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (hostname.trim() === '') return setProblem('Enter a domain or a subdomain that is yours.');
    setProblem(null);
    const { data } = await add({ variables: { hostname: hostname.trim() } }).catch(() => ({ data: null }));
    if (!data) return;
    onClose();
    go(`/settings/domains/${data.addDomain.id}`);
  };

  return (
    <Dialog title="Add domain" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Field
          label="Domain or subdomain"
          hint="Such as shop.example.com, or example.com."
          problem={problem ?? refused}
        >
          {(described) => (
            <input
              {...described}
              value={hostname}
              onChange={(event) => setHostname(event.target.value)}
              autoCapitalize="none"
              autoComplete="off"
              spellCheck={false}
              inputMode="url"
            />
          )}
        </Field>
        <p className="hint">The next page shows the DNS record to create.</p>
        {error && refused === null && <ErrorNotice error={error} />}
        <FormActions
          submit="Add domain"
          submitting="Adding…"
          isBusy={loading}
          error={error}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
