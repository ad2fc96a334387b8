import { createStore } from '../store.js';

const STORED_AS = 'petstore-key';

/** The signed-in session. The key is stored as long as the browser tab exists: never in a URL, a cookie or localStorage. */
interface Session {
  token: string | null;
  /** Why the last session ended, for the sign-in page; null = nothing to say. */
  farewell: string | null;
}

export const session = createStore<Session>({ token: sessionStorage.getItem(STORED_AS), farewell: null });

export function begin(token: string): void {
  sessionStorage.setItem(STORED_AS, token);
  session.set({ token, farewell: null });
}

export function end(farewell: string | null = null): void {
  sessionStorage.removeItem(STORED_AS);
  session.set({ token: null, farewell });
}
