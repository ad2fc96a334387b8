import { SCOPES } from '../caller.js';
import { html } from './html.js';
import { pageText } from './layout.js';
import type { PageAssets } from './page-assets.js';

const LINKS: readonly [path: string, name: string, what: string][] = [
  ['/dashboard', 'Dashboard', 'Quota, API keys and custom domains of a project'],
  ['/graphql', 'GraphQL', 'The schema in Apollo Sandbox; also the address that clients send operations to'],
  ['/graphiql', 'GraphiQL', 'The same schema without a third party, with an example for each task'],
  ['/v1/docs', 'REST reference', 'Every operation of /v1, to read and to try'],
  ['/v1/openapi.json', 'OpenAPI document', 'The same for programs'],
  ['/healthz', 'Health', 'Whether this process lives; /readyz says whether it should get traffic'],
];

/** `/` of the platform: what this is, and the way to everything else. */
export function homePage(assets: PageAssets, base: string): string {
  const body = html`<main class="page">
<h1>Petstore Gateway</h1>
<p class="lead">A typed, metered API in front of a pet store: GraphQL for frontend teams, REST for legacy clients. Every project has its own pets, API keys, quota and domains.</p>
<ul class="links">
${LINKS.map(([path, name, what]) => html`<li><a href="${path}">${name}</a><span>${what}</span></li>\n`)}</ul>
<h2>First request</h2>
<p>Every request carries an API key. The first start prints one for the demo project; <code>npm run -s petstore -- keys create demo --scopes ${SCOPES.join(',')}</code> makes another.</p>
<pre class="box" tabindex="0" role="region" aria-label="First request">curl "${base}/v1/pets?limit=3" \\
  -H "Authorization: Bearer &lt;API_KEY&gt;"</pre>
<p class="quiet">Each answer says what is left of the quota, in <code>X-RateLimit-Remaining</code> and <code>RateLimit</code>. The README has the rest: settings, the command line, errors, custom domains.</p>
</main>`;
  return pageText(assets, { title: 'Petstore Gateway', script: null, body });
}
