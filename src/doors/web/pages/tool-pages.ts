import { capitalized, filteredFieldsOf, shownFieldsOf } from '../../../noun-words.js';
import type { NounDescription } from '../../../nouns.js';
import { dataBlock, gatewayBlock, html } from './markup/html.js';
import { pageText, type Site } from './markup/layout.js';

/** `/graphiql`: an explorer of the schema that needs no third-party server. */
export function graphiqlPage(site: Site): string {
  return pageText(site, {
    title: `GraphiQL · ${site.name}`,
    current: '/graphiql',
    script: 'graphiql/graphiql.tsx',
    bodyClass: 'graphiql-page',
    body: html`<main id="content" tabindex="-1"><noscript><p class="page">GraphiQL needs JavaScript. The schema is <a href="/schema.graphql">a text</a>.</p></noscript></main>
${gatewayBlock({ ...site, icon: site.brand.icon })}`,
  });
}

/** `/graphql` in a browser: Apollo Sandbox, and a link to GraphiQL if Apollo's servers can't be reached. D-78. */
export function sandboxPage(site: Site): string {
  const settings = {
    initialState: {
      document: firstQuery(site.nouns[0]),
      // The server writes the demo key here, for a browser on its own machine.
      headers: { Authorization: 'Bearer <API_KEY>' },
      includeCookies: false,
      // Each read of the schema costs a request.
      pollForSchemaUpdates: false,
    },
    hideCookieToggle: true,
    endpointIsEditable: false,
    runTelemetry: false,
  };
  return pageText(site, {
    title: `Apollo Sandbox · ${site.name}`,
    current: '/graphql',
    script: 'sandbox.ts',
    bodyClass: 'sandbox-page',
    body: html`<main id="content" tabindex="-1">
<div class="page" id="offer" hidden>
<h1>Apollo Sandbox can't be reached</h1>
<p class="lead">Sandbox loads from Apollo's servers, which can't be reached from here.</p>
<p><a class="button primary" href="/graphiql">Open GraphiQL instead</a></p>
<p>It shows the same schema, served only by this gateway.</p>
</div>
<div id="sandbox"></div>
<noscript><p class="page">Apollo Sandbox needs JavaScript, and so does <a href="/graphiql">GraphiQL</a>. The schema is <a href="/schema.graphql">a text</a>, and <a href="/v1/docs">the REST reference</a> can be read without.</p></noscript>
</main>
${dataBlock('sandbox-settings', settings)}`,
  });
}

/** For people who followed a wrong link. */
export function notFoundPage(site: Site): string {
  return pageText(site, {
    title: `Not found · ${site.name}`,
    current: '/',
    script: 'home.ts',
    body: html`<main id="content" tabindex="-1" class="page">
<h1>There is nothing at this address</h1>
<p class="lead">The link may be old, or mistyped.</p>
<p class="hero-links"><a class="button primary" href="/">Go to the first page</a> <a class="button" href="/v1/docs">Read the reference</a></p>
</main>`,
  });
}

function firstQuery(noun: NounDescription): string {
  const chosen = filteredFieldsOf(noun).flatMap(({ argument, field }) =>
    field.kind === 'choice' ? `, ${argument}: ${field.example}` : [],
  );
  return `query First${capitalized(noun.plural)} {
  ${noun.plural}(first: 5${chosen.join('')}) {
    nodes { ${shownFieldsOf(noun).join(' ')} }
    pageInfo { hasNextPage endCursor }
  }
  project { slug plan }
}
`;
}
