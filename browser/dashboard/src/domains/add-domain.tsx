import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { Dialog } from '../elements/dialog.js';
import { Field } from '../elements/field.js';
import { FormActions } from '../elements/form-actions.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { fieldProblem } from '../errors/in-words.js';
import { refusalOf } from '../errors/refusal.js';
import {
  AddDomainDocument,
  DomainDocument,
  DomainsDocument,
  PublishProjectDocument,
} from '../graphql/generated.js';
import { go } from '../routing/location.js';
import { useSession } from '../session/signed-in.js';
import { hostInLink } from './host-in-link.js';

/** Also publishes a project that was never published, because a domain needs something to serve. */
export function AddDomain({ onClose }: { onClose: () => void }) {
  const { project } = useSession();
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [publish, publishing] = useMutation(PublishProjectDocument);
  const [add, adding] = useMutation(AddDomainDocument, {
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

  const isPublished = project.publishedAt !== null;
  const { hostname, rest } = hostInLink(typed);
  const error = publishing.error ?? adding.error;
  const refused = fieldProblem(error, 'hostname');

  const addOnce = () => add({ variables: { hostname } });
  /** Asks before it publishes: nothing takes that back, so a name that the gateway refuses must not cause it. */
  const addOrPublish = async () => {
    try {
      return await addOnce();
    } catch (refused) {
      if (isPublished || refusalOf(refused)?.code !== 'NOT_PUBLISHED') throw refused;
      adding.reset();
      await publish();
      return addOnce();
    }
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (hostname === '') return setProblem('Enter a domain or a subdomain that is yours.');
    setProblem(null);
    publishing.reset();
    const answer = await addOrPublish().catch(() => null);
    if (!answer?.data) return;
    onClose();
    go(`/settings/domains/${answer.data.addDomain.id}`);
  };

  return (
    <Dialog title="Add domain" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Field
          label="Domain or subdomain"
          hint={
            rest === '' ? (
              'Such as shop.example.com, or example.com.'
            ) : (
              <>
                Adds <code>{hostname}</code>: a domain has no <code>{rest}</code>.
              </>
            )
          }
          problem={problem ?? refused}
        >
          {(described) => (
            <input
              {...described}
              value={typed}
              onChange={(event) => {
                setTyped(event.target.value);
                setProblem(null);
                adding.reset();
              }}
              autoCapitalize="none"
              autoComplete="off"
              spellCheck={false}
              inputMode="url"
            />
          )}
        </Field>
        <p className="hint">
          {!isPublished &&
            'The project is not published yet. Its first domain publishes it: its deploy must have succeeded. '}
          The next page shows the DNS record to create.
        </p>
        {error && refused === null && <ErrorNotice error={error} />}
        <FormActions
          submit={isPublished ? 'Add domain' : 'Publish and add domain'}
          submitting={publishing.loading ? 'Publishing…' : 'Adding…'}
          isBusy={publishing.loading || adding.loading}
          error={error}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
