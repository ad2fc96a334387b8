import { codeBlock, codeChoice } from '../../pages/code-block.js';
import { html } from '../../pages/html.js';
import type { Guide } from './guide.js';

export const PAGINATION: Guide = {
  slug: 'pagination',
  title: 'Pagination',
  lead: 'Lists come in pages. Each page names the URL of the next one in its Link header.',
  sections: ({ base }) => [
    {
      id: 'follow',
      title: 'Follow the next link',
      body: html`<p><a href="/v1/docs/listPets">List all animals</a> returns a JSON array, oldest first. <code>limit</code> is the size of a page: 1 to 100, 20 by default. The last page has no <code>rel="next"</code>.</p>
${codeBlock({
  label: 'Headers of a page',
  language: 'http',
  text: `Link: <${base}/pets?limit=20>; rel="first", <${base}/pets?limit=20&cursor=cGV0OjQ3MTI>; rel="next"`,
})}
<p>Use the URL as it is. It keeps your filters, and its cursor has no meaning outside of this list.</p>`,
    },
    {
      id: 'all',
      title: 'Read a whole list',
      body: codeChoice(
        'read-all',
        'Read all pages',
        [
          {
            label: 'fetch',
            language: 'javascript',
            text: `import { env } from 'node:process';

const headers = { Authorization: \`Bearer \${env.API_KEY}\` };
const pets = [];
let url = '${base}/pets?limit=100';
while (url) {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(await response.text());
  pets.push(...(await response.json()));
  url = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
}`,
          },
          {
            label: 'Python',
            language: 'python',
            text: `import os

import requests

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['API_KEY']}"
pets = []
url = "${base}/pets?limit=100"
while url:
    response = session.get(url, timeout=10)
    response.raise_for_status()
    pets += response.json()
    url = response.links.get("next", {}).get("url")`,
          },
        ],
        'language',
      ),
    },
    {
      id: 'changes',
      title: 'While pets are added',
      body: html`<p>A cursor is a position, not a page number. A pet that is added while you read appears on a later page: you see no pet twice and miss none. The last page costs as much as the first, however long the list is.</p>
<p>A cursor of another list, or one that you made yourself, gets <code>400</code> <code>invalid_request</code>.</p>`,
    },
    {
      id: 'unchanged',
      title: 'Ask only for changes',
      body: html`<p>Each page has an <code>ETag</code>. Send it back in <code>If-None-Match</code>: an unchanged page is answered with <code>304</code> and no body. Such a request still costs one unit of the quota.</p>`,
    },
  ],
};
