import { html } from './html.js';
import { pageText } from './layout.js';
import { type OpenApi, operationsOf } from './openapi-parts.js';
import type { PageAssets } from './page-assets.js';
import { operationSection } from './reference-operation.js';
import { fieldsOf, prose, typeOf } from './reference-schema.js';

/** Whose reference it is: a project has a name and one address, the platform those of the document. */
export interface ReferenceOwner {
  name: string;
  origin: string;
}

/** The reference of the OpenAPI document. What can be read needs no script; the forms that send requests do. */
export function referencePage(assets: PageAssets, document: OpenApi, owner: ReferenceOwner | null): string {
  const { info } = document;
  const operations = operationsOf(document);
  const name = owner?.name ?? info.title;
  const servers = owner ? [{ url: `${owner.origin}/v1`, description: null }] : document.servers;
  const body = html`<main class="page reference">
<h1><bdi>${name}</bdi></h1>
<p class="lead">API reference, version ${info.version}. ${info.summary ?? null}</p>
${prose(info.description)}
<dl>
${servers.map(
  ({ url, description }) => html`<dt>${description ?? 'Address'}</dt>
<dd><code>${url}</code></dd>
`,
)}<dt>For programs</dt>
<dd><a href="/v1/openapi.json">/v1/openapi.json</a></dd>
</dl>
<form class="try" hidden>
<label for="key">API key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="pk_…" aria-describedby="key-use">
<p id="key-use" class="quiet">For trying things here: kept in this tab until you close it, sent to this host only.</p>
</form>
<nav aria-label="Operations">
<ul>
${operations.map(({ operationId, summary }) => html`<li><a href="#${operationId}">${summary}</a></li>\n`)}<li><a href="#schemas">Schemas</a></li>
</ul>
</nav>
${operations.map((operation) => operationSection(operation, document))}
<section id="schemas" aria-labelledby="schemas-name">
<h2 id="schemas-name">Schemas</h2>
${Object.entries(document.components.schemas).map(
  ([schemaName, schema]) => html`<h3 id="schema-${schemaName}">${schemaName}</h3>
${prose(schema.description)}${fieldsOf(schema) ?? html`<p>${typeOf(schema)}</p>`}
`,
)}</section>
</main>`;
  return pageText(assets, { title: `${name} · API reference`, script: 'reference.ts', body });
}
