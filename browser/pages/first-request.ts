import { apiKey } from '../api-key.js';
import { announce } from './copy-code.js';
import { colored, laidOut, summaryOf } from './shown-answer.js';
import { askForKey, replaceKey } from './sign-in.js';

/** A request without the key, by the label of its code. */
type Requests = Record<string, { path: string; body?: string }>;

/** Makes the button of the home page send the chosen request. The answer replaces the example. */
export function enableFirstRequest(): void {
  const button = document.querySelector<HTMLButtonElement>('#run');
  const data = document.querySelector('#first-requests')?.textContent;
  if (!button || !data) return;
  const requests: Requests = JSON.parse(data);
  button.hidden = false;
  button.addEventListener('click', () => void run(button, requests));
}

async function run(button: HTMLButtonElement, requests: Requests): Promise<void> {
  const chosen = document.querySelector<HTMLInputElement>('[name="first"]:checked')?.value ?? '';
  const { path = '/', body = null } = requests[chosen] ?? {};
  const key = apiKey.read() || (await askForKey());
  if (key === '') return;
  button.disabled = true;
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${key}`,
    ...(body !== null && { 'content-type': 'application/json' }),
  };
  const method = body === null ? 'GET' : 'POST';
  try {
    const answer = await fetch(path, { method, headers, body, cache: 'no-store', credentials: 'omit' });
    show('#first-answer', summaryOf(answer), laidOut(await answer.text()), 'json');
    const quota = ['Limit', 'Remaining'].map((name) => `X-RateLimit-${name}`);
    const lines = quota.map((name) => `${name}: ${answer.headers.get(name)}`);
    show('#answer-headers', 'Headers of your answer', lines.join('\n'), 'http');
    if (answer.status === 401) void replaceKey(key);
  } catch {
    show('#first-answer', 'The gateway could not be reached.', '', 'json');
  } finally {
    button.disabled = false;
  }
}

function show(block: string, name: string, text: string, language: 'json' | 'http'): void {
  const place = document.querySelector(block);
  place?.querySelector('.code-name')?.replaceChildren(name);
  place?.querySelector('code')?.replaceChildren(...colored(text, language));
  if (block === '#first-answer') announce(name);
}
