import { type Html, html } from '../pages/html.js';
import { pageText } from '../pages/layout.js';
import type { PageAssets } from '../pages/page-assets.js';
import type { ReferenceOwner } from './introduction.js';
import type { OpenApi } from './parts/openapi-parts.js';
import { pageUrl, type ReferencePage } from './reference-pages.js';

interface Reference {
  document: OpenApi;
  owner: ReferenceOwner | null;
  pages: readonly ReferencePage[];
}

/** A page of the reference among the others. Reading needs no script; search, copying and trying do. */
export function referenceText(
  assets: PageAssets,
  { document, owner, pages }: Reference,
  page: ReferencePage,
): string {
  const name = owner?.name ?? document.info.title;
  const index = pages.indexOf(page);
  const body = html`<div class="reference">
${contents(pages, page)}
<main id="content" tabindex="-1" class="${page.sections.length > 0 ? 'guide' : 'operation'}">
<button class="contents-button" type="button" popovertarget="contents">Contents</button>
${page.body()}
<nav class="neighbours" aria-label="Previous and next page">
${neighbour(pages[index - 1], 'Previous')}${neighbour(pages[index + 1], 'Next')}</nav>
</main>
${
  page.sections.length > 0 &&
  html`<nav class="on-this-page" aria-label="On this page">
<h2>On this page</h2>
<ul>
${page.sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul>
</nav>
`
}</div>`;
  return pageText(assets, {
    title: page.slug === '' ? `${name} · API reference` : `${page.title} · ${name} · API reference`,
    site: { project: owner?.name ?? null, current: '/v1/docs' },
    script: 'reference/reference.ts',
    bodyClass: 'reference-page',
    context: html`<span>API reference</span> <span class="badge">v${document.info.version}</span>`,
    body,
  });
}

/** The list of all pages. On a narrow screen it opens over the page; a popover needs no script for that. */
function contents(pages: readonly ReferencePage[], current: ReferencePage): Html {
  const groups = [...new Set(pages.map(({ group }) => group))];
  return html`<nav id="contents" class="contents" popover aria-label="Reference">
<search class="search" hidden>
<label class="unseen" for="search">Search the reference</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/">
<kbd aria-hidden="true">/</kbd>
<p class="unseen" role="status"></p>
<ul class="search-results" aria-label="Search results" hidden></ul>
</search>
${groups.map(
  (group, index) => html`<h2 id="contents-${index}">${group}</h2>
<ul aria-labelledby="contents-${index}">
${pages.filter((page) => page.group === group).map((page) => entry(page, page === current))}</ul>
`,
)}</nav>`;
}

function entry(page: ReferencePage, isCurrent: boolean): Html {
  const { operation, title } = page;
  return html`<li><a href="${pageUrl(page)}"${isCurrent && html` aria-current="page"`}>${title}${
    operation !== undefined &&
    html` <span class="method method-${operation.method.toLowerCase()}">${operation.method}</span>`
  }</a></li>
`;
}

function neighbour(page: ReferencePage | undefined, label: 'Previous' | 'Next'): Html | null {
  if (!page) return null;
  return html`<a class="neighbour neighbour-${label.toLowerCase()}" href="${pageUrl(page)}" rel="${label === 'Next' ? 'next' : 'prev'}"><span class="hint">${label}</span> ${page.title}</a>
`;
}
