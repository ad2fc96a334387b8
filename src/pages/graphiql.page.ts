import { html } from './html.js';
import { pageText } from './layout.js';
import type { PageAssets } from './page-assets.js';

/** `/graphiql`: an explorer of the schema that needs nobody else's server. */
export function graphiqlPage(assets: PageAssets): string {
  const body = html`<div id="graphiql"><noscript><p class="page">GraphiQL needs JavaScript.</p></noscript></div>`;
  return pageText(assets, { title: 'GraphiQL · Petstore Gateway', script: 'graphiql.tsx', body });
}
