import { html } from './html.js';
import { pageText } from './layout.js';
import type { PageAssets } from './page-assets.js';

/** For people who followed a wrong link. `project` is that of the host. */
export function notFoundPage(assets: PageAssets, project: string | null): string {
  const body = html`<main id="content" tabindex="-1" class="page">
<h1>There is nothing at this address</h1>
<p class="lead">The link may be old, or mistyped.</p>
<p class="hero-links"><a class="button primary" href="/">Go to the first page</a> <a class="button" href="/v1/docs">Read the reference</a></p>
</main>`;
  return pageText(assets, {
    title: `Not found · ${project ?? 'Petstore Gateway'}`,
    site: { project, current: '/' },
    script: 'home.ts',
    body,
  });
}
