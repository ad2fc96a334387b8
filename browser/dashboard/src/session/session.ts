import { apiKey } from '../../../api-key.js';
import { createStore } from '../store.js';

interface Session {
  token: string | null;
  /** Why the last session ended, for the sign-in page; null = nothing to say. */
  farewell: string | null;
}

/** The signed-in session. */
export const session = createStore<Session>({ token: apiKey.read() || null, farewell: null });

apiKey.subscribe(() => {
  const token = apiKey.read() || null;
  const { token: known } = session.get();
  if (token === known) return;
  // Another key may see other data: nothing of the old page stays.
  if (token !== null && known !== null) return location.reload();
  session.set({ token, farewell: token === null ? 'You were signed out in another tab.' : null });
});

export function begin(token: string): void {
  session.set({ token, farewell: null });
  apiKey.begin(token);
}

export function end(farewell: string | null = null): void {
  const { token } = session.get();
  session.set({ token: null, farewell });
  // Another tab may have begun a session with another key meanwhile.
  if (apiKey.read() === token) apiKey.end();
}
