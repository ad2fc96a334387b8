import './home.css';
import { addCopyButtons } from './copy-code.js';
import { enableFirstRequest } from './first-request.js';
import { startSignIn } from './sign-in.js';
import { showSite } from './site.js';

const EVERY_MS = 10_000;

interface State {
  tone: 'good' | 'warn' | 'bad';
  words: string;
}

addCopyButtons();
startSignIn();
showSite();
enableFirstRequest();
const place = document.getElementById('state');
if (place) {
  void show(place);
  setInterval(() => {
    if (!document.hidden) void show(place);
  }, EVERY_MS);
}

/** Shows whether the gateway is ready. `/readyz` is public and spends nothing. */
async function show(place: HTMLElement): Promise<void> {
  const { tone, words } = await readState();
  const badge = document.createElement('a');
  badge.href = '/readyz';
  badge.className = `badge badge-${tone}`;
  badge.textContent = words;
  // A live region announces each change of its content, so it changes only with the state.
  if (place.textContent === words) return;
  place.setAttribute('role', 'status');
  place.replaceChildren(badge);
}

async function readState(): Promise<State> {
  try {
    const answer = await fetch('/readyz', { cache: 'no-store' });
    if (answer.ok) return { tone: 'good', words: 'Ready for requests' };
    const { message } = await answer.json();
    return { tone: 'warn', words: `Not ready: ${message}` };
  } catch {
    return { tone: 'bad', words: 'The gateway does not answer' };
  }
}
