import { CircleCheck, LoaderCircle } from 'lucide-react';
import { useState } from 'react';
import { FIRST_NOUN } from '../../../gateway.js';
import { headOf } from '../../../nouns.js';
import { CopyButton } from '../elements/copy-button.js';
import { Segments } from '../elements/segments.js';
import { Link } from '../routing/link.js';
import { useSession } from '../session/signed-in.js';
import type { LiveUsage } from './use-live-usage.js';

type Language = 'curl' | 'fetch' | 'graphql';

const LANGUAGES: readonly { value: Language; label: string }[] = [
  { value: 'curl', label: 'curl' },
  { value: 'fetch', label: 'fetch' },
  { value: 'graphql', label: 'GraphQL' },
];

const PAGES = [
  { href: '/graphiql', label: 'GraphiQL' },
  { href: '/v1/docs', label: 'REST reference' },
  { href: '/v1/docs/authentication', label: 'Guides' },
  { href: '/schema.graphql', label: 'GraphQL schema' },
];

/** A first request to copy. The gateway stores only a digest of a key, so the snippet has its prefix. */
export function QuickStart({ first }: { first: LiveUsage['first'] }) {
  const { project, apiKey } = useSession();
  const [language, setLanguage] = useState<Language>('curl');
  const key = `${apiKey.prefix}…`;
  const { plural } = FIRST_NOUN;
  const snippet = {
    curl: `API_KEY='${key}'  # the whole key\ncurl "${project.apiUrl}/${plural}?limit=3" \\\n  -H "Authorization: Bearer $API_KEY"`,
    fetch: `const key = '${key}'; // the whole key\nconst response = await fetch('${project.apiUrl}/${plural}?limit=3', {\n  headers: { Authorization: \`Bearer \${key}\` },\n});\nconsole.log(await response.json());`,
    graphql: `API_KEY='${key}'  # the whole key\ncurl ${project.graphqlUrl} \\\n  -H "Authorization: Bearer $API_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"query":"{ ${plural}(first: 3) { nodes { id ${headOf(FIRST_NOUN).name} } } }"}'`,
  }[language];
  return (
    <section className="card quick-start" aria-labelledby="quick-start">
      <header className="usage-head">
        <h2 id="quick-start">Quick start</h2>
        <Segments legend="Language" choices={LANGUAGES} value={language} onChange={setLanguage} />
      </header>
      <div className="snippet">
        <pre>
          <code>{snippet}</code>
        </pre>
        <CopyButton text={snippet} what="the snippet" />
      </div>
      <FirstRequest first={first} />
      <p className="muted">
        Replace <code>{key}</code> by the whole key, which was shown when it was created.
      </p>
      <ul className="pages">
        {PAGES.map(({ href, label }) => (
          <li key={href}>
            <a href={href}>{label}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Whether the project's first request has arrived. The text changes without a reload. */
function FirstRequest({ first }: { first: LiveUsage['first'] }) {
  return (
    <div role="status">
      {first === 'awaited' && (
        <p className="first-request">
          <LoaderCircle size={18} aria-hidden="true" className="turning" />
          Waiting for your first request…
        </p>
      )}
      {first === 'arrived' && (
        <p className="first-request is-there">
          <CircleCheck size={18} aria-hidden="true" />
          Your first request has arrived. <Link to="/requests">Show it</Link>
        </p>
      )}
    </div>
  );
}
