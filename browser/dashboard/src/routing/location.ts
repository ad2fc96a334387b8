import { createStore } from '../store.js';

export const BASE = '/dashboard';

/** The current page: the path below `/dashboard`, and the query. */
export interface Place {
  path: string;
  query: URLSearchParams;
  /** State that a page stores with this entry of the browser's history. */
  kept: unknown;
}

/** Paths that people type or remember; the address shows the page's own. */
const OTHER_PATHS = /^\/(keys|domains)(?=\/|$)/;

const here = createStore<Place>(read());

function read(): Place {
  const { pathname, search, hash } = window.location;
  const asked = pathname.slice(BASE.length).replace(/\/+$/, '');
  const path = asked
    .replace(OTHER_PATHS, '/settings/$1')
    .replace(/^\/(settings|api-keys)$/, '/settings/keys');
  if (path !== asked) window.history.replaceState(window.history.state, '', `${BASE}${path}${search}${hash}`);
  return { path: path === '' ? '/' : path, query: new URLSearchParams(search), kept: window.history.state };
}

window.addEventListener('popstate', () => here.set(read()));

export const usePlace = here.use;

/** Goes to a page; `to` is below `/dashboard`. */
export function go(to: string, { kept = null as unknown, replace = false } = {}): void {
  const act = replace ? 'replaceState' : 'pushState';
  window.history[act](kept, '', `${BASE}${to}`);
  here.set(read());
}
