import { codeBlock, codeChoice } from '../../pages/code-block.js';
import { html } from '../../pages/html.js';
import type { Guide } from './guide.js';

export const AUTHENTICATION: Guide = {
  slug: 'authentication',
  title: 'Authentication',
  lead: 'Every request carries an API key as a bearer token.',
  sections: ({ base }) => [
    {
      id: 'send',
      title: 'Send the key',
      body: html`<p>A key begins with <code>pk_</code> and belongs to one project. Store it outside of your code, such as in an environment variable.</p>
${codeChoice(
  'send-key',
  'Request with a key',
  [
    {
      label: 'curl',
      language: 'shell',
      text: `export API_KEY=pk_…\n\ncurl "${base}/pets?limit=3" \\\n  -H "Authorization: Bearer $API_KEY"`,
    },
    {
      label: 'fetch',
      language: 'javascript',
      text: `import { env } from 'node:process';\n\nconst headers = { Authorization: \`Bearer \${env.API_KEY}\` };\nconst response = await fetch('${base}/pets?limit=3', { headers });`,
    },
    {
      label: 'Python',
      language: 'python',
      text: `import os\n\nimport requests\n\nheaders = {"Authorization": f"Bearer {os.environ['API_KEY']}"}\nresponse = requests.get("${base}/pets", params={"limit": 3}, headers=headers, timeout=10)`,
    },
  ],
  'language',
)}
<p>A key never belongs in a URL, and not in a page or an app that strangers can open: anybody who reads it can use it.</p>`,
    },
    {
      id: 'scopes',
      title: 'Scopes',
      body: html`<p>A key can do what its scopes allow. A request that needs another scope gets <code>403</code> <code>forbidden</code>, and the message names the scope.</p>
<table>
<thead><tr><th scope="col">Scope</th><th scope="col">Allows</th></tr></thead>
<tbody>
<tr><th scope="row"><code>pets:read</code></th><td>Read pets, over REST and GraphQL</td></tr>
<tr><th scope="row"><code>pets:write</code></th><td>Create and change pets</td></tr>
<tr><th scope="row"><code>domains</code></th><td>Publish the project, see and change its custom domains (GraphQL)</td></tr>
<tr><th scope="row"><code>keys</code></th><td>See, create, roll and revoke the project's API keys (GraphQL)</td></tr>
</tbody>
</table>`,
    },
    {
      id: 'refused',
      title: 'When a key is refused',
      body: html`<p>A key that is missing, malformed, unknown, revoked or expired gets <code>401</code> <code>unauthorized</code>. The answer is the same for each reason, so that nobody learns from it which keys exist.</p>
${codeBlock({
  label: 'Answer 401',
  language: 'json',
  text: JSON.stringify(
    {
      code: 'unauthorized',
      message: 'The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".',
      status: 401,
    },
    null,
    2,
  ),
})}
<p>Do not repeat the request with the same key: an address may send 60 requests a minute without a valid key, then it gets <code>429</code>.</p>`,
    },
    {
      id: 'roll',
      title: 'Replace a key without downtime',
      body: html`<p>Roll a key in the dashboard or with the GraphQL mutation <code>rollApiKey</code>: the new key works at once, and the old one stays valid for a day, or for the time that you choose. Deploy the new key, then revoke the old one.</p>
<p>A token is shown only once. If it is lost, create another key and revoke the lost one. A revoked key is refused everywhere within a second.</p>`,
    },
    {
      id: 'hosts',
      title: 'Hosts',
      body: html`<p>The hosts of a project, its generated one and its custom domains, accept only the keys of that project. The platform's own address accepts the keys of all projects.</p>`,
    },
  ],
};
