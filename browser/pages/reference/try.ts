import { apiKey } from '../../api-key.js';
import { budgetOf } from '../budget.js';
import { askForKey, replaceKey } from '../sign-in.js';

/** Makes the form of an operation send its request, to the host that served the page, with the key of the session. */
export function enableForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) {
    form.hidden = false;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void send(form);
    });
  }
}

async function send(form: HTMLFormElement): Promise<void> {
  const place = form.querySelector<HTMLElement>('.answer');
  const button = form.querySelector<HTMLButtonElement>('button[type=submit]');
  if (!place || !button || button.disabled) return;
  const isPublic = form.dataset.public !== undefined;
  // Without a key the request would be refused, and would count for the client's address.
  const key = isPublic ? '' : apiKey.read() || (await askForKey());
  if (!isPublic && key === '') return;
  button.disabled = true;
  try {
    const { url, init } = requestOf(form, key);
    const answer = await fetch(url, init);
    if (answer.status === 401) void replaceKey(key);
    // As text: a JavaScript number would lose digits of the ids.
    show(place, summaryOf(answer), laidOut(await answer.text()), linesOf(answer.headers));
  } catch {
    show(place, 'The gateway could not be reached.', '', '');
  } finally {
    button.disabled = false;
  }
}

function requestOf(form: HTMLFormElement, key: string): { url: URL; init: RequestInit } {
  const { method = 'GET', path = '/' } = form.dataset;
  const headers = new Headers({ accept: 'application/json' });
  if (key !== '') headers.set('authorization', `Bearer ${key}`);
  const query = new URLSearchParams();
  let target = path;
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-in]')) {
    const { name, value } = field;
    if (field.dataset.in === 'path') target = target.replace(`{${name}}`, encodeURIComponent(value));
    else if (value === '') continue;
    else if (field.dataset.in === 'query') query.set(name, value);
    else if (field.dataset.in === 'header') headers.set(name, value);
  }
  const url = new URL(target, location.origin);
  url.search = query.toString();
  const body = form.querySelector('textarea')?.value;
  if (body !== undefined) headers.set('content-type', 'application/json');
  return {
    url,
    init: {
      method,
      headers,
      cache: 'no-store',
      credentials: 'omit',
      ...(body === undefined ? {} : { body }),
    },
  };
}

function summaryOf(answer: Response): string {
  const budget = budgetOf(answer.headers);
  const status = `${answer.status} ${answer.statusText}`.trim();
  return budget === null ? status : `${status} · ${budget}`;
}

/** The headers that the API sets; those that browsers and connections set are left out. */
function linesOf(headers: Headers): string {
  const lines = [...headers].filter(([name]) => !/^(access-control-|connection$|keep-alive$)/.test(name));
  return lines.map(([name, value]) => `${name}: ${value}`).join('\n');
}

/** JSON with a line per value, formatted without parsing the values: integers keep every digit. */
function laidOut(json: string): string {
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g) ?? [];
  let depth = 0;
  const line = () => `\n${'  '.repeat(depth)}`;
  return tokens
    .map((token, index) => {
      const isEmpty = tokens[index + 1] === (token === '{' ? '}' : ']');
      if (token === '{' || token === '[') {
        depth += 1;
        return isEmpty ? token : token + line();
      }
      if (token === '}' || token === ']') {
        depth -= 1;
        const wasEmpty = tokens[index - 1] === (token === '}' ? '{' : '[');
        return wasEmpty ? token : line() + token;
      }
      if (token === ',') return token + line();
      return token === ':' ? ': ' : token;
    })
    .join('');
}

function show(place: HTMLElement, summary: string, body: string, headers: string): void {
  const status = document.createElement('p');
  status.textContent = summary;
  place.replaceChildren(status);
  if (headers === '') return;
  const details = document.createElement('details');
  const title = document.createElement('summary');
  title.textContent = 'Headers';
  details.append(title, block(headers));
  place.replaceChildren(status, ...(body === '' ? [] : [block(body)]), details);
}

function block(text: string): HTMLElement {
  const element = document.createElement('pre');
  element.className = 'answer-text';
  // The element must be scrollable without a mouse.
  element.tabIndex = 0;
  element.textContent = text;
  return element;
}
