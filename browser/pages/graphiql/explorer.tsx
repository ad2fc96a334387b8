import { GraphiQL, type GraphiQLProps } from 'graphiql';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { apiKey } from '../../api-key.js';
import { budgetOf } from '../budget.js';
import { askForKey, replaceKey } from '../sign-in.js';
import { EXAMPLES, ExampleMenu } from './example-menu.js';
import { type Following, followed, isSubscription } from './followed.js';
import { FollowingBadge } from './following-badge.js';

const ENDPOINT = '/graphql';
const SCHEMA = '/schema.graphql';
const NOT_SENT = { errors: [{ message: 'Nothing was sent: an operation needs an API key.' }] };
const [FIRST] = EXAMPLES;
/** So wide that the documentation leaves the editor and the answer their room. */
const WIDE = '(min-width: 100rem)';

/** GraphiQL with the public schema, an example for each task, and the remaining quota. Operations need an API key. */
export function Explorer() {
  const [budget, setBudget] = useState('');
  const schema = usePublicSchema();
  const [isShown, setShown] = useState(false);
  const theme = useSyncExternalStore(watchTheme, shownTheme);
  useEffect(() => {
    if (schema === undefined) return;
    openDocumentation();
    setShown(true);
  }, [schema]);
  const [following, setFollowing] = useState<Following | null>(null);
  const fetcher = useCallback<GraphiQLProps['fetcher']>(async (request, options) => {
    const key = apiKey.read() || (await askForKey());
    if (key === '') return NOT_SENT;
    const headers = {
      ...options?.headers,
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
    };
    const onHead = (answer: Response) => {
      setBudget(budgetOf(answer.headers) ?? '');
      if (answer.status === 401) void replaceKey(key);
    };
    if (isSubscription(options?.documentAST, request.operationName)) {
      return followed({ url: ENDPOINT, headers, body: request, onHead }, setFollowing);
    }
    const answer = await fetch(ENDPOINT, { method: 'POST', headers, body: JSON.stringify(request) });
    onHead(answer);
    return answer.json();
  }, []);
  return (
    // The documentation pushes the editor aside when it opens, so both are shown together.
    <div className={isShown ? 'workbench' : 'workbench workbench-loading'}>
      <div className="workbench-bar">
        <h1>GraphiQL</h1>
        <FollowingBadge following={following} />
        <output aria-label="Remaining quota">{budget}</output>
      </div>
      <GraphiQL
        fetcher={fetcher}
        schema={schema ?? null}
        dangerouslyAssumeSchemaIsValid
        defaultQuery={FIRST?.query ?? ''}
        defaultTabs={[{ query: FIRST?.query ?? '', variables: JSON.stringify(FIRST?.variables, null, 2) }]}
        isHeadersEditorEnabled
        shouldPersistHeaders={false}
        showPersistHeadersSettings={false}
        forcedTheme={theme}
        storage={sessionStorage}
      >
        <GraphiQL.Logo>
          <ExampleMenu />
        </GraphiQL.Logo>
      </GraphiQL>
    </div>
  );
}

/** `design/theme.js` sets it. */
function shownTheme(): 'light' | 'dark' {
  return document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light';
}

function watchTheme(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => observer.disconnect();
}

/** Where it fits beside the editor. GraphiQL opens it only by its button. */
function openDocumentation(): void {
  if (!matchMedia(WIDE).matches) return;
  document.querySelector<HTMLElement>('[aria-label="Show Documentation Explorer"]')?.click();
}

/** The printed schema, which needs no key; null if it can't be read. Introspection would need a key. */
function usePublicSchema(): GraphQLSchema | null | undefined {
  const [schema, setSchema] = useState<GraphQLSchema | null>();
  useEffect(() => {
    const load = async () => {
      const answer = await fetch(SCHEMA);
      return answer.ok ? buildSchema(await answer.text(), { assumeValidSDL: true }) : null;
    };
    load().then(setSchema, () => setSchema(null));
  }, []);
  return schema;
}
