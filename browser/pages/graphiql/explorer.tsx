import { GraphiQL } from 'graphiql';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { useEffect, useMemo, useState } from 'react';
import { apiKey } from '../api-key.js';
import { budgetOf } from '../budget.js';
import { ExampleMenu } from './example-menu.js';
import { EXAMPLE_QUERIES } from './example-queries.js';
import { KeyDialog } from './key-dialog.js';

const ENDPOINT = '/graphql';
const SCHEMA = '/schema.graphql';
const REFUSED = 'The gateway does not accept this key.';
const NOT_SENT = { errors: [{ message: 'Nothing was sent: an operation needs an API key.' }] };
const [FIRST] = EXAMPLE_QUERIES;
/** So wide that the documentation fits beside the editor and the answer. */
const WIDE = '(min-width: 75rem)';

/** GraphiQL with the public schema, an example for each task, and the remaining quota. Operations need an API key. */
export function Explorer() {
  const [key, setKey] = useState(apiKey.read);
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState('');
  const [budget, setBudget] = useState('');
  const schema = usePublicSchema();
  const isLoaded = schema !== null;
  useEffect(() => {
    if (isLoaded) openDocumentation();
  }, [isLoaded]);

  const use = (given: string) => {
    apiKey.keep(given);
    setKey(given);
    setProblem('');
    setAsking(false);
  };
  const fetcher = useMemo(
    () => async (request: object, options?: { headers?: Record<string, string> | undefined }) => {
      if (key === '') {
        setAsking(true);
        return NOT_SENT;
      }
      const headers = {
        ...options?.headers,
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
      };
      const answer = await fetch(ENDPOINT, { method: 'POST', headers, body: JSON.stringify(request) });
      setBudget(budgetOf(answer.headers) ?? '');
      if (answer.status === 401) {
        apiKey.forget();
        setKey('');
        setProblem(REFUSED);
        setAsking(true);
      }
      return answer.json();
    },
    [key],
  );
  return (
    <div className="workbench">
      <div className="workbench-bar">
        <h1>GraphiQL</h1>
        <output aria-label="Remaining quota">{budget}</output>
        <button type="button" className="quiet small" onClick={() => setAsking(true)}>
          {key === '' ? 'Set API key' : 'Change key'}
        </button>
      </div>
      <GraphiQL
        fetcher={fetcher}
        schema={schema}
        dangerouslyAssumeSchemaIsValid
        defaultQuery={FIRST?.query ?? ''}
        defaultTabs={[{ query: FIRST?.query ?? '', variables: JSON.stringify(FIRST?.variables, null, 2) }]}
        isHeadersEditorEnabled
        shouldPersistHeaders={false}
        showPersistHeadersSettings={false}
        forcedTheme="system"
        storage={sessionStorage}
      >
        <GraphiQL.Logo>
          <ExampleMenu />
        </GraphiQL.Logo>
      </GraphiQL>
      {isAsking && <KeyDialog problem={problem} onKey={use} onClose={() => setAsking(false)} />}
    </div>
  );
}

/** Where it fits beside the editor. GraphiQL opens it only by its button. */
function openDocumentation(): void {
  if (!matchMedia(WIDE).matches) return;
  document.querySelector<HTMLElement>('[aria-label="Show Documentation Explorer"]')?.click();
}

/** The printed schema, which needs no key; null until it is loaded. Introspection would need a key. */
function usePublicSchema(): GraphQLSchema | null {
  const [schema, setSchema] = useState<GraphQLSchema | null>(null);
  useEffect(() => {
    const load = async () => {
      const answer = await fetch(SCHEMA);
      if (answer.ok) setSchema(buildSchema(await answer.text(), { assumeValidSDL: true }));
    };
    void load();
  }, []);
  return schema;
}
