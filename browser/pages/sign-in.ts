import { apiKey, formProblem } from '../api-key.js';

const REFUSED = 'The gateway does not accept this key.';
const UNREACHABLE = 'The gateway could not be reached.';
/** Needs no scope and spends nothing of the plan. */
const CHECK = JSON.stringify({ query: '{ apiKey { id } }' });

/** Makes the header's button and the dialog work that are on each page. */
export function startSignIn(): void {
  const { dialog, form, button } = elements();
  const label = () => {
    button.textContent = apiKey.read() === '' ? 'Sign in' : 'Sign out';
  };
  void apiKey.whenKnown().then(label);
  apiKey.subscribe(label);
  button.addEventListener('click', () => {
    if (apiKey.read() === '') void askForKey();
    else apiKey.end();
  });
  dialog.querySelector('[type=button]')?.addEventListener('click', () => dialog.close());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
}

/** Asks for an API key until the gateway accepts one, and signs in with it. Empty = the user closed the dialog. */
export function askForKey(reason = ''): Promise<string> {
  const { dialog, form } = elements();
  form.reset();
  explain(reason);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(apiKey.read()), { once: true });
  });
}

/** Signs out if the gateway has refused `key`, and asks for another one. */
export function replaceKey(key: string): Promise<string> {
  // A late response to a replaced key says nothing about the current one.
  if (apiKey.read() === key) apiKey.end();
  return askForKey(REFUSED);
}

async function submit(): Promise<void> {
  const { dialog, form } = elements();
  const key = String(new FormData(form).get('key')).trim();
  const problem = formProblem(key) ?? (await refusalOf(key));
  explain(problem ?? '');
  if (problem !== null || !dialog.open) return;
  apiKey.begin(key);
  dialog.close();
}

async function refusalOf(key: string): Promise<string | null> {
  try {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch('/graphql', { method: 'POST', headers, body: CHECK });
    if (answer.ok) return null;
    if (answer.status === 401) return REFUSED;
    const { errors } = await answer.json();
    return errors[0].message;
  } catch {
    return UNREACHABLE;
  }
}

function explain(problem: string): void {
  const { form } = elements();
  const place = form.querySelector('[role=alert]');
  if (place) place.textContent = problem;
}

function elements() {
  const dialog = document.querySelector<HTMLDialogElement>('#key-dialog');
  const form = dialog?.querySelector('form');
  const button = document.querySelector<HTMLButtonElement>('#sign-in');
  if (!dialog || !form || !button) throw new Error('The page has no dialog for the key');
  return { dialog, form, button };
}
