import { type Html, html } from '../../pages/html.js';
import type { OpenApi } from '../parts/openapi-parts.js';

export interface Section {
  /** The target of links to the section; unique on its page. */
  id: string;
  title: string;
  body: Html;
}

export interface GuideContext {
  document: OpenApi;
  /** The address of the REST API, ending in `/v1`. */
  base: string;
}

export interface Guide {
  slug: string;
  title: string;
  /** The content of the guide, in one sentence. */
  lead: string;
  sections: (context: GuideContext) => Section[];
}

export function guideBody({ title, lead, sections }: Guide, context: GuideContext): Html {
  return html`<h1>${title}</h1>
<p class="lead">${lead}</p>
${sections(context).map(
  ({ id, title: name, body }) => html`<section id="${id}" aria-labelledby="${id}-name">
<h2 id="${id}-name">${name}</h2>
${body}
</section>
`,
)}`;
}
