import { GraphiQL } from 'graphiql';
import { type FormEvent, useMemo, useState } from 'react';
import { apiKey } from './api-key.js';
import { budgetOf } from './budget.js';
import { EXAMPLE_QUERIES, type ExampleQuery } from './example-queries.js';

const ENDPOINT = '/graphql';
const REFUSED = 'The gateway does not accept this key.';

/** Asks for the key once, then shows GraphiQL with examples and what is left of the quota. */
export function Explorer() {
  const [key, setKey] = useState(apiKey.read);
  const [problem, setProblem] = useState('');

  const use = (given: string) => {
    apiKey.keep(given);
    setProblem('');
    setKey(given);
  };
  const forget = (reason: string) => {
    apiKey.forget();
    setProblem(reason);
    setKey('');
  };
  if (key === '') return <KeyForm problem={problem} onKey={use} />;
  return <Workbench key={key} apiKey={key} onLeave={forget} />;
}

function KeyForm({ problem, onKey }: { problem: string; onKey: (key: string) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key')).trim();
    if (key !== '') onKey(key);
  };
  return (
    <main className="key-form">
      <h1>GraphiQL</h1>
      <p>
        The schema is shown to those who have a key. It is kept in this tab until you close it, and sent to
        this gateway only.
      </p>
      <form onSubmit={submit}>
        <label htmlFor="key">API key</label>
        <input
          id="key"
          name="key"
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="pk_…"
          required
          aria-describedby="key-problem"
        />
        <button type="submit">Open</button>
        <p id="key-problem" role="alert">
          {problem}
        </p>
      </form>
    </main>
  );
}

interface WorkbenchProps {
  apiKey: string;
  onLeave: (reason: string) => void;
}

function Workbench({ apiKey: key, onLeave }: WorkbenchProps) {
  const [example, setExample] = useState<ExampleQuery | undefined>(EXAMPLE_QUERIES[0]);
  const [budget, setBudget] = useState('');
  const fetcher = useMemo(
    () => async (request: object, options?: { headers?: Record<string, string> | undefined }) => {
      const headers = {
        ...options?.headers,
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
      };
      const answer = await fetch(ENDPOINT, { method: 'POST', headers, body: JSON.stringify(request) });
      setBudget(budgetOf(answer.headers) ?? '');
      if (answer.status === 401) onLeave(REFUSED);
      return answer.json();
    },
    [key, onLeave],
  );
  return (
    <main className="workbench">
      <header>
        <h1>
          <a href="/">Petstore</a> GraphiQL
        </h1>
        <select
          aria-label="Examples"
          value={example?.task}
          onChange={({ target }) => setExample(EXAMPLE_QUERIES.find(({ task }) => task === target.value))}
        >
          {EXAMPLE_QUERIES.map(({ task }) => (
            <option key={task}>{task}</option>
          ))}
        </select>
        <output aria-label="What is left of the quota">{budget}</output>
        <button type="button" onClick={() => onLeave('')}>
          Change key
        </button>
      </header>
      <GraphiQL
        fetcher={fetcher}
        query={example?.query ?? ''}
        variables={example?.variables ? JSON.stringify(example.variables, null, 2) : ''}
        isHeadersEditorEnabled
        shouldPersistHeaders={false}
        showPersistHeadersSettings={false}
        forcedTheme="system"
        storage={sessionStorage}
      >
        <GraphiQL.Logo>
          <span />
        </GraphiQL.Logo>
      </GraphiQL>
    </main>
  );
}
