import { type Html, html } from './html.js';
import type { PageAssets } from './page-assets.js';

/** The dashboard's `site-header.tsx` has the same links. */
const LINKS = [
  { href: '/dashboard/', label: 'Dashboard' },
  { href: '/v1/docs', label: 'REST' },
  { href: '/graphiql', label: 'GraphiQL' },
  { href: '/graphql', label: 'Sandbox' },
] as const;

export interface Site {
  /** The project of the host; null = a host of the platform, which has the dashboard. */
  project: string | null;
  /** The current page, or the one that the current page belongs to. */
  current: '/' | (typeof LINKS)[number]['href'];
}

/** A script makes it work. Apollo's page has none: its script is a third party's. */
const SIGN_IN = html`<button type="button" class="quiet small" id="sign-in"></button>
<dialog id="key-dialog" class="key-dialog" aria-labelledby="key-title"><form novalidate>
<h2 id="key-title">Sign in</h2>
<p>This browser keeps the API key until you sign out or close the last tab, and sends it only to this gateway.</p>
<label for="api-key">API key</label>
<input id="api-key" name="key" type="password" autocomplete="off" spellcheck="false" placeholder="pk_…" aria-describedby="key-problem">
<p id="key-problem" class="problem" role="alert"></p>
<div class="key-actions"><button type="button">Cancel</button> <button class="primary">Sign in</button></div>
</form></dialog>
`;

/** The bar on top of every page: the brand, what the page is about, and the links between the pages. */
export function siteHeader(assets: PageAssets, { project, current }: Site, context: Html | null): Html {
  const links = LINKS.filter(({ href }) => project === null || href !== '/dashboard/');
  return html`<header class="site-header">
<a class="site-brand" href="/"><img src="${assets.urlOf('../design/icon.svg')}" alt="" width="26" height="26"> <bdi>${project ?? 'Petstore Gateway'}</bdi></a>
${context !== null && html`<div class="site-context">${context}</div>\n`}<nav class="site-nav" aria-label="${project ?? 'Petstore Gateway'}">
<ul>
${links.map(({ href, label }) => html`<li><a href="${href}"${href === current && html` aria-current="true"`}>${label}</a></li>\n`)}</ul>
</nav>
<theme-switch></theme-switch>
${current !== '/graphql' && SIGN_IN}</header>`;
}
