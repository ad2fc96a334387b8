import { addressOf, type SampleRequest, samplesOf } from '../../../src/doors/web/shown/samples.js';
import { apiKey } from '../../api-key.js';
import { announce } from '../copy-code.js';
import { colored, laidOut, summaryOf } from '../shown-answer.js';
import { askForKey, replaceKey } from '../sign-in.js';

/** Makes the form of an operation change the code above it, and send the request to the host that served the page. */
export function enableForm(): void {
  const form = document.querySelector<HTMLFormElement>('form.try');
  const fields = form?.querySelector<HTMLElement>('.try-fields');
  if (!form || !fields) return;
  fields.hidden = false;
  const key = fields.querySelector<HTMLInputElement>('[name="Idempotency-Key"]');
  const follow = ({ target }: { target: EventTarget | null }) => {
    if (key && target === key) key.dataset.chosen = '';
    // Another payload needs another key; the same request may be repeated with the same one.
    else if (key && key.dataset.chosen === undefined) key.value = freshKey();
    showCode(form);
  };
  fields.addEventListener('input', follow);
  follow({ target: null });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
  document.querySelector('.live .back')?.addEventListener('click', () => showAnswer(false));
}

async function send(form: HTMLFormElement): Promise<void> {
  const button = form.querySelector<HTMLButtonElement>('button[type=submit]');
  if (!button || button.disabled) return;
  const request = requestOf(form);
  // Without a key the request would be refused, and would count for the client's address.
  const key = request.needsKey ? apiKey.read() || (await askForKey()) : '';
  if (request.needsKey && key === '') return;
  button.disabled = true;
  try {
    const answer = await fetch(addressOf(request), initOf(request, key));
    // As text: a JavaScript number would lose digits of the ids.
    fill(summaryOf(answer), laidOut(await answer.text()), linesOf(answer.headers));
    if (answer.status === 401) void replaceKey(key);
  } catch {
    fill('The gateway could not be reached.', '', '');
  } finally {
    button.disabled = false;
  }
}

/** An empty required field shows its placeholder. */
function requestOf(form: HTMLFormElement): SampleRequest {
  const { method = 'GET', path = '/', public: isPublic } = form.dataset;
  const request: SampleRequest = {
    method,
    url: location.origin + path,
    query: [],
    headers: [],
    needsKey: isPublic === undefined,
    body: form.querySelector('textarea')?.value ?? null,
  };
  for (const field of form.querySelectorAll<HTMLInputElement>('[data-in]')) {
    const { name, placeholder } = field;
    const value = field.value.trim();
    if (field.dataset.in === 'path') {
      request.url = request.url.replace(`{${name}}`, () => encodeURIComponent(value || placeholder));
    } else if (value !== '') {
      request[field.dataset.in === 'query' ? 'query' : 'headers'].push([name, value]);
    }
  }
  return request;
}

function initOf({ method, headers, body }: SampleRequest, key: string): RequestInit {
  const all = new Headers([['accept', 'application/json'], ...headers]);
  if (key !== '') all.set('authorization', `Bearer ${key}`);
  if (body !== null) all.set('content-type', 'application/json');
  return { method, headers: all, body, cache: 'no-store', credentials: 'omit' };
}

function showCode(form: HTMLFormElement): void {
  const samples = samplesOf(requestOf(form));
  const places = form.querySelectorAll('.code code');
  samples.forEach(({ text, language }, at) => {
    places[at]?.replaceChildren(...colored(text, language));
  });
}

function fill(summary: string, body: string, headers: string): void {
  const [name, text, lines] = document.querySelectorAll<HTMLElement>('.live :is(.code-name, code)');
  if (!name || !text || !lines) return;
  name.textContent = summary;
  text.replaceChildren(...colored(body, 'json'));
  lines.replaceChildren(...colored(headers, 'http'));
  for (const each of [text, lines]) {
    const place = each.closest<HTMLElement>('details, pre');
    if (place) place.hidden = each.textContent === '';
  }
  showAnswer(true);
  announce(summary);
}

/** Puts the answer in the place of the examples, and scrolls to it. */
function showAnswer(isLive: boolean): void {
  for (const block of document.querySelectorAll<HTMLElement>('.answers > *')) {
    block.hidden = block.classList.contains('live') !== isLive;
    if (!block.hidden) block.scrollIntoView({ block: 'nearest' });
  }
}

/** `crypto.randomUUID` exists only on secure pages. */
function freshKey(): string {
  return crypto.getRandomValues(new Uint32Array(2)).reduce((text, part) => text + part.toString(36), 'try-');
}

/** The headers that the API sets; those that browsers and connections set are left out. */
function linesOf(headers: Headers): string {
  const lines = [...headers].filter(([name]) => !/^(access-control-|connection$|keep-alive$)/.test(name));
  return lines.map(([name, value]) => `${name}: ${value}`).join('\n');
}
