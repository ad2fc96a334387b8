import { type Html, html } from '../markup/html.js';
import { pageText, type Site } from '../markup/layout.js';
import { type Contract, type LocatedOperation, SAMPLE_ORIGIN } from './contract.js';
import { filledGuide, type ReferenceTexts } from './guide-texts.js';
import { guide } from './markdown.js';
import { operationBody } from './operation-page.js';
import { introductionBody, objectsBody } from './overview-pages.js';
import { recipesOf } from './recipes.js';

export interface ReferencePage {
  /** `/v1/docs`, or a path below it. */
  path: string;
  title: string;
  group: 'Get started' | 'Guides' | 'Operations' | 'Data';
  operation?: LocatedOperation;
  body: (siteName: string) => Html;
}

const GUIDES = [
  'authentication',
  'pagination',
  'idempotency',
  'limits',
  'clients',
  'errors',
  'numbers',
  'typescript',
  'versions',
];

/** The REST reference, from the OpenAPI document and the texts of the guides. Pages are in reading order. D-207. */
export function referenceOf(contract: Contract, { guides, recipes }: ReferenceTexts) {
  const pages: ReferencePage[] = [
    {
      path: '/v1/docs',
      title: 'Introduction',
      group: 'Get started',
      body: (siteName) => introductionBody(contract, siteName),
    },
    ...GUIDES.map((name) =>
      guidePage(name, filledGuide(guides[name] ?? '', contract, recipesOf(recipes, contract))),
    ),
    ...contract.operations.map((operation) => ({
      path: `/v1/docs/${operation.operationId}`,
      title: operation.summary,
      group: 'Operations' as const,
      operation,
      body: () => operationBody(operation, contract),
    })),
    { path: '/v1/docs/objects', title: 'Objects', group: 'Data', body: () => objectsBody(contract) },
  ];
  return {
    pages,
    textOf: (page: ReferencePage, site: Site) => frame(page, pages, site, contract),
    /** For people who followed a wrong link below `/v1/docs`. */
    notFoundText: (site: Site) => frame(notFound(pages), pages, site, contract),
  };
}

/** Beside the list of all pages: on a phone that list is behind a button, so the page itself has some of it. */
function notFound(pages: readonly ReferencePage[]): ReferencePage {
  const offered = pages.filter(({ group }) => group !== 'Guides');
  const body = () => html`<h1>There is nothing at this address</h1>
<p class="lead">The reference has no such page: the link may be old, or mistyped.</p>
<ul>
${offered.map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>\n`)}</ul>`;
  return { path: '', title: 'Not found', group: 'Get started', body };
}

function guidePage(name: string, text: string): ReferencePage {
  const [, title = ''] = /^# (.*)/.exec(text) ?? [];
  return { path: `/v1/docs/${name}`, title, group: 'Guides', body: () => guide(text) };
}

/** A page of the reference among the others. Reading needs no script; search, copying and trying do. */
function frame(
  page: ReferencePage,
  pages: readonly ReferencePage[],
  site: Site,
  { info: { version } }: Contract,
): string {
  const index = pages.indexOf(page);
  const isGuide = page.group === 'Guides';
  const text = page.body(site.name);
  const body = html`<div class="reference">
${contents(pages, page)}
<main id="content" tabindex="-1"${isGuide && html` class="guide"`} data-origin="${SAMPLE_ORIGIN}">
<button class="contents-button" type="button" popovertarget="contents">Contents</button>
${text}
${index >= 0 && neighbours(pages[index - 1], pages[index + 1])}</main>
${isGuide && onThisPage(text)}</div>`;
  return pageText(site, {
    title: `${index === 0 ? '' : `${page.title} · `}${site.name} · API reference`,
    current: '/v1/docs',
    script: 'reference/reference.ts',
    bodyClass: 'reference-page',
    context: html`<span>API reference</span> <span class="badge">v${version}</span>`,
    body,
  });
}

function onThisPage({ markup }: Html): Html {
  const headings = [...markup.matchAll(/<h2 id="(.*?)">(.*?)<\/h2>/g)];
  return html`<nav class="on-this-page" aria-label="On this page">
<h2>On this page</h2>
<ul>
${headings.map(([, id = '', title = '']) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul>
</nav>
`;
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

function entry({ path, title, operation }: ReferencePage, isCurrent: boolean): Html {
  const tone = operation?.method === 'GET' ? 'busy' : 'good';
  const method = operation && html` <span class="method badge badge-${tone}">${operation.method}</span>`;
  return html`<li><a href="${path}"${isCurrent && html` aria-current="page"`}>${title}${method ?? null}</a></li>
`;
}

function neighbours(previous: ReferencePage | undefined, next: ReferencePage | undefined): Html {
  return html`<nav class="neighbours" aria-label="Previous and next page">
${neighbour(previous, 'Previous', 'prev')}${neighbour(next, 'Next', 'next')}</nav>
`;
}

function neighbour(page: ReferencePage | undefined, label: string, rel: 'prev' | 'next'): Html | null {
  if (!page) return null;
  return html`<a class="${rel}" href="${page.path}" rel="${rel}"><span class="hint">${label}</span> ${page.title}</a>
`;
}
