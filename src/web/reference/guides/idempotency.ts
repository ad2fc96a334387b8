import { codeBlock } from '../../pages/code-block.js';
import { html } from '../../pages/html.js';
import type { Guide } from './guide.js';

export const IDEMPOTENCY: Guide = {
  slug: 'idempotency',
  title: 'Idempotency',
  lead: 'Send an Idempotency-Key with each write, and you can repeat it safely when the answer got lost.',
  sections: ({ base }) => [
    {
      id: 'repeat',
      title: 'Repeat a write',
      body: html`<p>A connection can break after a pet was created and before you got the answer. With the header <code>Idempotency-Key</code> you send the same request again: the gateway creates nothing and sends the first answer once more.</p>
${codeBlock({
  label: 'A write that can be repeated',
  language: 'shell',
  text: `curl -X POST "${base}/pets" \\
  -H "Authorization: Bearer $API_KEY" \\
  -H "Idempotency-Key: 7b1f0c52-add-rex" \\
  -H "Content-Type: application/json" \\
  -d '{"name":"Rex","categoryId":3}'`,
})}`,
    },
    {
      id: 'key',
      title: 'Choose a key',
      body: html`<ul>
<li>1 to 255 visible ASCII characters without spaces, such as a UUID or your own order number.</li>
<li>One key for each thing that you do, new to this project. Make it before the first attempt and store it with the task.</li>
<li>Upper and lower case differ.</li>
</ul>`,
    },
    {
      id: 'rules',
      title: 'What the gateway answers',
      body: html`<table>
<thead><tr><th scope="col">The request</th><th scope="col">Answer</th></tr></thead>
<tbody>
<tr><th scope="row">Same key, same content, within 24 hours</th><td>The first answer: its status, body and <code>Location</code>, with <code>Idempotent-Replayed: true</code></td></tr>
<tr><th scope="row">Same key while the first request still runs</th><td><code>409</code> <code>conflict</code> with <code>Retry-After</code></td></tr>
<tr><th scope="row">Same key, other content</th><td><code>422</code> <code>idempotency_mismatch</code></td></tr>
<tr><th scope="row">Same key after a refusal, such as a <code>400</code></th><td>The corrected request is executed: a refusal does not use the key up</td></tr>
</tbody>
</table>
<p>Both APIs share the keys: a write over REST that is repeated over GraphQL creates nothing either. Each attempt costs its unit of the quota.</p>`,
    },
  ],
};
