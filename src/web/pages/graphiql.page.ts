import { html } from './html.js';
import { pageText } from './layout.js';
import type { PageAssets } from './page-assets.js';

/** `/graphiql`: an explorer of the schema that needs no third-party server. `project` is that of the host. */
export function graphiqlPage(assets: PageAssets, project: string | null): string {
  const body = html`<main id="content" tabindex="-1"><noscript><p class="page">GraphiQL needs JavaScript. The schema is <a href="/schema.graphql">a text</a>.</p></noscript></main>`;
  return pageText(assets, {
    title: `GraphiQL · ${project ?? 'Petstore Gateway'}`,
    site: { project, current: '/graphiql' },
    script: 'graphiql/graphiql.tsx',
    bodyClass: 'graphiql-page',
    body,
  });
}
