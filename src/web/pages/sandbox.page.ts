import { dataBlock, html } from './html.js';
import { pageText } from './layout.js';
import type { PageAssets } from './page-assets.js';

interface SandboxContent {
  document: string;
  /** The key for the first request; null = a placeholder. */
  demoKey: string | null;
  /** The project of the host; null = a host of the platform. */
  project: string | null;
}

/** `/graphql` in a browser: Apollo Sandbox, and a link to GraphiQL if Apollo's servers can't be reached. */
export function sandboxPage(assets: PageAssets, { document, demoKey, project }: SandboxContent): string {
  const settings = {
    initialState: {
      document,
      headers: { Authorization: `Bearer ${demoKey ?? '<API_KEY>'}` },
      includeCookies: false,
      // Each read of the schema costs a request.
      pollForSchemaUpdates: false,
    },
    hideCookieToggle: true,
    endpointIsEditable: false,
    runTelemetry: false,
  };
  const body = html`<main id="content" tabindex="-1">
<div class="page" id="offer" hidden>
<h1>Apollo Sandbox can't be reached</h1>
<p class="lead">Sandbox loads from Apollo's servers, which can't be reached from here.</p>
<p><a class="button primary" href="/graphiql">Open GraphiQL instead</a></p>
<p>It shows the same schema, served only by this gateway.</p>
</div>
<div id="sandbox"></div>
<noscript><p class="page">Apollo Sandbox needs JavaScript, and so does <a href="/graphiql">GraphiQL</a>. The schema is <a href="/schema.graphql">a text</a>, and <a href="/v1/docs">the REST reference</a> can be read without.</p></noscript>
</main>
${dataBlock('sandbox-settings', settings)}`;
  return pageText(assets, {
    title: `Apollo Sandbox · ${project ?? 'Petstore Gateway'}`,
    site: { project, current: '/graphql' },
    script: 'sandbox.ts',
    bodyClass: 'sandbox-page',
    body,
  });
}
