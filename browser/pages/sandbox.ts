import './sandbox.css';
import { showSite } from './site.js';

const SCRIPT =
  'https://embeddable-sandbox.cdn.apollographql.com/_latest/embeddable-sandbox.umd.production.min.js';
const FRAME_ORIGIN = 'https://sandbox.embed.apollographql.com';
const PATIENCE_MS = 6_000;
/** Apollo's multipart subscription protocol. */
const STREAM = 'multipart/mixed;subscriptionSpec=1.0, application/json';

interface SandboxWindow extends Window {
  EmbeddedSandbox?: new (options: object) => unknown;
}

/** Loads Apollo Sandbox, and offers GraphiQL if it does not load: its script and its frame are on Apollo's servers. */
showSite();
const offer = document.getElementById('offer');
const settings = JSON.parse(document.getElementById('sandbox-settings')?.textContent ?? '{}');
const giveUp = setTimeout(offerGraphiql, PATIENCE_MS);

addEventListener('message', ({ origin }) => {
  if (origin !== FRAME_ORIGIN) return;
  clearTimeout(giveUp);
  document.body.dataset.sandbox = 'ready';
  if (offer) offer.hidden = true;
});

const script = document.createElement('script');
script.src = SCRIPT;
script.addEventListener('error', offerGraphiql);
script.addEventListener('load', () => {
  const { EmbeddedSandbox } = window as SandboxWindow;
  if (!EmbeddedSandbox) return offerGraphiql();
  const endpoint = location.origin + location.pathname;
  new EmbeddedSandbox({
    ...settings,
    target: '#sandbox',
    initialEndpoint: endpoint,
    // Without it Sandbox would try a WebSocket.
    initialSubscriptionEndpoint: endpoint,
    handleRequest: send,
    // Its styles would be inline, which the policy of this page forbids; ours are in a file.
    allowDynamicStyles: false,
  });
});
document.head.append(script);

/** Asks for a stream on behalf of a subscription: Sandbox sends this page the request without an Accept header. */
function send(url: string, options: RequestInit): Promise<Response> {
  const { body } = options;
  const headers = new Headers(options.headers);
  const isSubscription = typeof body === 'string' && /^\s*subscription\b/m.test(JSON.parse(body).query);
  if (isSubscription && !headers.has('accept')) headers.set('accept', STREAM);
  return fetch(url, { ...options, headers });
}

function offerGraphiql(): void {
  clearTimeout(giveUp);
  document.body.dataset.sandbox = 'missing';
  if (offer) offer.hidden = false;
}
