/**
 * A program beside a compiled example of React: shows its `App` in a page without a browser, and prints what a person
 * sees, each time it changes. Presses `More` once, and ends when a list is there.
 */
export const SHOW = `
import { Window } from 'happy-dom';

const window = new Window({ url: 'http://127.0.0.1/' });
Object.assign(globalThis, { window, document: window.document });
globalThis.navigator ??= window.navigator;
const { createElement } = await import('react');
const { createRoot } = await import('react-dom/client');
const { App } = await import('./example.js');

const page = window.document.createElement('main');
window.document.body.append(page);
createRoot(page).render(createElement(App));
let shown = '';
let items = 0;
setInterval(() => {
  const text = page.innerHTML.replace(/<[^>]+>/g, '\\n').trim().replace(/\\n+/g, '\\n');
  if (text === shown) return;
  shown = text;
  console.log(text);
  const list = page.querySelectorAll('li').length;
  const button = page.querySelector('button');
  if (list > 0 && (items > 0 || !button)) process.exit();
  items = list;
  button?.click();
}, 100);
`;
