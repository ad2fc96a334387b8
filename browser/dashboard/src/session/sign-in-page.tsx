import { useApolloClient } from '@apollo/client/react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { formProblem } from '../../../api-key.js';
import { GATEWAY_NAME, SCOPES } from '../../../gateway.js';
import { Field } from '../elements/field.js';
import { Notice } from '../elements/notice.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { refusalOf } from '../errors/refusal.js';
import { useBlock } from '../errors/use-block.js';
import { SessionDocument } from '../graphql/generated.js';
import { QuotaNotice } from '../layout/quota-notice.js';
import { SiteHeader } from '../layout/site-header.js';
import { whyRefused } from './known-keys.js';
import { begin, session } from './session.js';

export function SignInPage() {
  const client = useApolloClient();
  const { farewell } = session.use();
  const [problem, setProblem] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const { isBlocked, countdown } = useBlock(error);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = `Sign in · ${GATEWAY_NAME}`;
    input.current?.focus();
  }, []);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const token = input.current?.value.trim() ?? '';
    setError(null);
    setProblem(formProblem(token));
    if (formProblem(token) !== null) return input.current?.focus();
    setBusy(true);
    try {
      const headers = { authorization: `Bearer ${token}` };
      // The first pages request the same data, and find it in the cache.
      await client.query({ query: SessionDocument, fetchPolicy: 'network-only', context: { headers } });
      begin(token);
    } catch (refused) {
      const isOfKey = refusalOf(refused)?.code === 'UNAUTHORIZED';
      // A known key is known by its first characters: the others may be wrong.
      const why = isOfKey ? whyRefused(token, ', or it was not copied exactly') : null;
      if (why === null) setError(refused);
      else setProblem(`This API key is not accepted: ${why}.`);
      setBusy(false);
      input.current?.select();
    }
  };

  return (
    <>
      <SiteHeader />
      <main className="sign-in">
        <h1>Sign in</h1>
        <QuotaNotice />
        {farewell !== null && <Notice tone="info" title={farewell} isUrgent />}
        <form onSubmit={submit} noValidate>
          <Field
            label="API key"
            hint="It begins with pk_. This browser keeps it until you sign out or close the last tab."
            problem={problem}
          >
            {(described) => (
              <input
                {...described}
                ref={input}
                type="password"
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                placeholder="pk_…"
              />
            )}
          </Field>
          {error ? <ErrorNotice error={error} /> : null}
          <button type="submit" className="primary wide" disabled={isBusy || isBlocked}>
            {isBusy ? 'Checking the key…' : 'Sign in'}
            {countdown}
          </button>
        </form>
        <details>
          <summary>No key at hand?</summary>
          <p>
            The first start of the gateway prints a key. The operator of the gateway creates another with{' '}
            <code>petstore keys create &lt;project&gt; --scopes {SCOPES.join(',')}</code>; a signed-in
            colleague creates one under API keys. The dashboard shows what the scopes of the key allow.
          </p>
        </details>
      </main>
    </>
  );
}
