import { createStore } from '../store.js';

export const BASE = '/dashboard';

/** The current page: the path below `/dashboard`, and the query. */
export interface Place {
  path: string;
  query: URLSearchParams;
  /** State that a page stores with this entry of the browser's history. */
  kept: unknown;
}

const here = createStore<Place>(read());

function read(): Place {
  const { pathname, search } = window.location;
  const path = pathname.slice(BASE.length).replace(/\/+$/, '');
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
