import { PLANS } from '../../../projects/plans.js';
import { LADDER_MINUTES, STRIKES_TO_BAN } from '../../../rate-limit/rules/bans.js';
import { codeBlock, codeChoice } from '../../pages/code-block.js';
import { html } from '../../pages/html.js';
import type { Guide } from './guide.js';

const count = (number: number) => number.toLocaleString('en');

export const LIMITS: Guide = {
  slug: 'limits',
  title: 'Limits and bans',
  lead: 'A plan limits how many requests for pets a project may send in a minute and in a day.',
  sections: () => [
    {
      id: 'plans',
      title: 'Quotas of the plans',
      body: html`<table>
<thead><tr><th scope="col">Plan</th><th scope="col">Requests a minute</th><th scope="col">Requests a day</th></tr></thead>
<tbody>
${Object.entries(PLANS).map(
  ([
    name,
    quota,
  ]) => html`<tr><th scope="row">${name}</th><td>${quota ? count(quota.perMinute) : 'agreed'}</td><td>${quota ? count(quota.perDay) : 'agreed'}</td></tr>
`,
)}</tbody>
</table>
<p>Minutes and days are those of UTC, and each begins with the full quota. All keys of a project and both APIs count together. A request costs one unit; a GraphQL request one for each root field about pets. A refused request costs nothing.</p>`,
    },
    {
      id: 'headers',
      title: 'See what is left',
      body: html`<p>Every answer shows it. <code>X-RateLimit-*</code> describe the window that has less left; <code>RateLimit</code> and <code>RateLimit-Policy</code> describe both.</p>
${codeBlock({
  label: 'Headers of an answer',
  language: 'http',
  text: `X-RateLimit-Limit: 60
X-RateLimit-Remaining: 59
X-RateLimit-Reset: 1764892860
RateLimit-Policy: "minute";q=60;w=60, "day";q=1000;w=86400
RateLimit: "minute";r=59;t=31, "day";r=999;t=5000`,
})}
<p>In the last two, <code>q</code> is the quota, <code>w</code> the length of the window, <code>r</code> what remains, and <code>t</code> the time until it resets, both times in seconds. <a href="/v1/docs/getRateLimit">Get the remaining quota</a> answers the same as JSON, and costs nothing.</p>`,
    },
    {
      id: 'retry',
      title: 'When the quota is spent',
      body: html`<p>The answer is <code>429</code> with <code>Retry-After</code>: the whole seconds after which a request is admitted again. Wait that long, and add a random part when many clients wait together.</p>
${codeChoice(
  'wait',
  'Wait and repeat',
  [
    {
      label: 'fetch',
      language: 'javascript',
      text: `async function patientFetch(url, init) {
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(url, init);
    if (response.status !== 429 || attempt === 5) return response;
    const seconds = Number(response.headers.get('retry-after')) + Math.random() * 2 ** attempt;
    await new Promise((wake) => setTimeout(wake, seconds * 1000));
  }
}`,
    },
    {
      label: 'Python',
      language: 'python',
      text: `import random
import time

import requests

def patient_get(url, **options):
    for attempt in range(6):
        response = requests.get(url, timeout=10, **options)
        if response.status_code != 429:
            return response
        time.sleep(int(response.headers["Retry-After"]) + random.random() * 2**attempt)
    return response`,
    },
  ],
  'language',
)}`,
    },
    {
      id: 'bans',
      title: 'Strikes and bans',
      body: html`<p>A request between a <code>429</code> and its <code>Retry-After</code> is a strike. ${STRIKES_TO_BAN} strikes ban the key for ${LADDER_MINUTES[0]} minute, then for ${LADDER_MINUTES.slice(1).join(', then ')} minutes. An hour without a strike takes one step back.</p>
<p>A banned key gets <code>429</code> <code>key_banned</code> for pets. Everything else still works: the remaining quota, the project, its keys and its domains. Other keys of the project are not banned.</p>`,
    },
    {
      id: 'free',
      title: 'What costs nothing',
      body: html`<ul>
<li>The remaining quota, the OpenAPI document and these pages.</li>
<li>Over GraphQL everything but pets: the project, usage, keys and domains. Each key has 120 such fields a minute of its own.</li>
</ul>`,
    },
    {
      id: 'rehearse',
      title: 'Test your back-off',
      body: html`<p>On staging, a key that was created for rehearsals needs no traffic to see a refusal. The request header <code>Petstore-Rehearse</code> selects it: <code>429 minute</code>, <code>429 day</code>, <code>banned</code> or <code>sunset</code>.</p>`,
    },
  ],
};
