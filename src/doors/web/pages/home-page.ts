import { exampleValueOf, readableFieldsOf, SAMPLE_ID, scopesOf, shownFieldsOf } from '../../../noun-words.js';
import type { NounDescription } from '../../../nouns.js';
import { type Code, codeBlock, codeChoice } from './markup/code-block.js';
import { dataBlock, type Html, html } from './markup/html.js';
import { pageText, type Site } from './markup/layout.js';
import { laidOut } from './reference/contract.js';

interface Way {
  name: string;
  what: string;
  links: readonly [path: string, label: string][];
}

const waysIn = (nounList: string): readonly Way[] => [
  {
    name: 'GraphQL',
    what: 'A typed schema at /graphql for frontend teams: cursors, exact ids, and the cost of each operation known before it runs.',
    links: [
      ['/graphiql', 'Explore in GraphiQL'],
      ['/graphql', 'Apollo Sandbox'],
      ['/schema.graphql', 'Schema'],
    ],
  },
  {
    name: 'REST',
    what: 'Plain JSON at /v1 for clients of any age: pages by Link header, ETags, safe repeats, and a deprecation that is announced.',
    links: [
      ['/v1/docs', 'Read the reference'],
      ['/v1/openapi.json', 'OpenAPI document'],
      ['/v1/postman.json', 'Postman collection'],
    ],
  },
  {
    name: 'Dashboard',
    what: `What a project owner needs: quota and traffic as they change, ${nounList}, API keys, and custom domains with their certificates.`,
    links: [['/dashboard/', 'Open the dashboard']],
  },
];

/** The quota of the demo project after its first request: it is on the plan PRO. */
const DEMO_QUOTA = 'X-RateLimit-Limit: 300\nX-RateLimit-Remaining: 299';

const requestsOf = (noun: NounDescription) => ({
  REST: { path: `/v1/${noun.plural}?limit=1` },
  GraphQL: {
    path: '/graphql',
    body: `{"query":"{ ${noun.plural}(first: 1) { nodes { ${shownFieldsOf(noun).join(' ')} } } }"}`,
  },
});

/** `/` of the platform: what it is, the three ways in, a first request, and the state of the gateway. */
export function homePage(site: Site, base: string): string {
  const [first] = site.nouns;
  /** `books, films`. */
  const nounList = site.nouns.map(({ plural }) => plural).join(', ');
  const body = html`<main id="content" tabindex="-1" class="home" data-origin="${base}">
<section class="hero">
<div class="hero-text">
<p class="state" id="state"><a href="/readyz">State of the gateway</a></p>
<h1>${first.headline}</h1>
<p class="lead">GraphQL for frontend teams, REST for legacy clients, both over the same services. Every project has its own ${nounList}, API keys, quota and domains.</p>
<p class="hero-links"><a class="button primary" href="/v1/docs">Read the reference</a> <a class="button" href="/dashboard/">Open the dashboard</a></p>
</div>
<div class="hero-code">
${codeChoice('first', 'First request', firstRequests(base, first))}<button type="button" class="primary" id="run" hidden>Run this request</button>
<div id="first-answer">${codeBlock({ label: 'Answer', language: 'json', text: answerOf(first) })}</div>
</div>
</section>
<section aria-labelledby="ways">
<h2 id="ways">Three ways in</h2>
<ul class="ways">
${waysIn(nounList).map(wayIn)}</ul>
</section>
<section aria-labelledby="steps">
<h2 id="steps">From here to the first answer</h2>
<ol class="steps">
<li><h3>Get a key</h3>
<p>The first start prints one for the demo project. This makes another, with every scope:</p>
${codeBlock({ label: 'Command', language: 'shell', text: `npx petstore keys create demo --scopes ${scopesOf(site.nouns).join(',')}` })}</li>
<li><h3>Put it into the environment</h3>
<p>A key belongs neither into your code nor into a URL.</p>
${codeBlock({ label: 'Shell', language: 'shell', text: 'export API_KEY=pk_…' })}</li>
<li><h3>Send the first request</h3>
<p>Run it above, or copy it. The answer also says how much of the quota is left:</p>
<div id="answer-headers">${codeBlock({ label: 'Headers of the answer', language: 'http', text: DEMO_QUOTA })}</div></li>
</ol>
</section>
</main>
<footer class="site-footer"><ul>
<li><a href="/v1/docs/authentication">Authentication</a></li>
<li><a href="/v1/docs/limits">Limits</a></li>
<li><a href="/v1/docs/errors">Errors</a></li>
<li><a href="/healthz">/healthz</a></li>
<li><a href="/readyz">/readyz</a></li>
</ul></footer>
${dataBlock('first-requests', requestsOf(first))}`;
  return pageText(site, {
    title: site.name,
    current: '/',
    script: 'home.ts',
    bodyClass: 'home-page',
    body,
  });
}

function wayIn({ name, what, links }: Way): Html {
  return html`<li class="way"><h3>${name}</h3>
<p>${what}</p>
<p class="way-links">${links.map(([path, label]) => html`<a href="${path}">${label}</a> `)}</p></li>
`;
}

function answerOf(noun: NounDescription): string {
  const values = readableFieldsOf(noun).map((field) => [field.name, exampleValueOf(field)]);
  return laidOut([Object.fromEntries([['id', BigInt(SAMPLE_ID)], ...values])]);
}

function firstRequests(base: string, noun: NounDescription): Code[] {
  const key = '-H "Authorization: Bearer $API_KEY"';
  const { REST, GraphQL } = requestsOf(noun);
  return [
    { label: 'REST', language: 'shell', text: `curl "${base}${REST.path}" \\\n  ${key}` },
    {
      label: 'GraphQL',
      language: 'shell',
      text: `curl "${base}${GraphQL.path}" \\\n  ${key} \\\n  -H "Content-Type: application/json" \\\n  -d '${GraphQL.body}'`,
    },
  ];
}
