import './sandbox.css';
import { showSite } from './site.js';

const SCRIPT =
  'https://embeddable-sandbox.cdn.apollographql.com/_latest/embeddable-sandbox.umd.production.min.js';
const FRAME_ORIGIN = 'https://sandbox.embed.apollographql.com';
const PATIENCE_MS = 6_000;

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
  new EmbeddedSandbox({
    ...settings,
    target: '#sandbox',
    initialEndpoint: location.origin + location.pathname,
    // Its styles would be inline, which the policy of this page forbids; ours are in a file.
    allowDynamicStyles: false,
  });
});
document.head.append(script);

function offerGraphiql(): void {
  clearTimeout(giveUp);
  document.body.dataset.sandbox = 'missing';
  if (offer) offer.hidden = false;
}
