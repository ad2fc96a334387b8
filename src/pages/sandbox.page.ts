import { dataBlock, html } from './html.js';
import { pageText } from './layout.js';
import type { PageAssets } from './page-assets.js';

interface SandboxContent {
  document: string;
  /** Filled in as the key of the first request; null = a placeholder. */
  demoKey: string | null;
}

/** `/graphql` in a browser: Apollo Sandbox, and the way to GraphiQL where Apollo's servers can't be reached. */
export function sandboxPage(assets: PageAssets, { document, demoKey }: SandboxContent): string {
  const settings = {
    initialState: {
      document,
      headers: { Authorization: `Bearer ${demoKey ?? '<API_KEY>'}` },
      includeCookies: false,
      // Each look at the schema costs a request.
      pollForSchemaUpdates: false,
    },
    hideCookieToggle: true,
    endpointIsEditable: false,
    runTelemetry: false,
  };
  const body = html`<main class="page" id="offer" hidden>
<h1>Apollo Sandbox can't be reached</h1>
<p class="lead">Sandbox is loaded from Apollo's servers, and they do not answer from here.</p>
<p><a href="/graphiql">Open GraphiQL instead</a>: the same schema, served by this gateway alone.</p>
</main>
<div id="sandbox"></div>
<noscript><p class="page">Apollo Sandbox needs JavaScript, and so does <a href="/graphiql">GraphiQL</a>. The schema is described in the repository, and <a href="/v1/docs">the REST reference</a> can be read without.</p></noscript>
${dataBlock('sandbox-settings', settings)}`;
  return pageText(assets, {
    title: 'Apollo Sandbox · Petstore Gateway',
    script: 'sandbox.ts',
    bodyClass: 'sandbox-page',
    body,
  });
}
