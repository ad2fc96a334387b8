/** The session that this browser is signed in with: an id without secrets. Shared by all tabs. */
const SESSION = 'petstore.session';
/** The session's id and its API key. The key is stored only in tabs, so it ends with the last of them. */
const HELD = 'petstore.key';
/** Longer than another tab needs for its answer. */
const PATIENCE_MS = 200;
const FORM = /^pk_[0-9A-Za-z]{33}$/;

/** A tab asks for the key of a session, and a tab that has the key answers. */
interface Message {
  session: string;
  key?: string;
}

const channel = new BroadcastChannel(HELD);
const listeners = new Set<() => void>();

/**
 * The API key that the browser is signed in with, the same on all pages and in all tabs of this origin. A key counts only
 * while its session is the browser's: signing out or using another key in one tab does so in all of them. D-183.
 */
export const apiKey = {
  /** Empty = this tab has no key, or not yet: see `whenKnown`. */
  read(): string {
    const [session, key = ''] = (sessionStorage.getItem(HELD) ?? '').split(' ');
    return session === currentSession() ? key : '';
  },

  begin(key: string): void {
    const session = crypto.getRandomValues(new Uint32Array(4)).join('-');
    sessionStorage.setItem(HELD, `${session} ${key}`);
    localStorage.setItem(SESSION, session);
    tell();
  },

  end(): void {
    sessionStorage.removeItem(HELD);
    localStorage.removeItem(SESSION);
    tell();
  },

  /** Calls `listener` after each sign-in and sign-out in any tab. */
  subscribe(listener: () => void): void {
    listeners.add(listener);
  },

  /** Resolves once another tab has handed over the key of the session, or has had the time to. */
  whenKnown(): Promise<void> {
    if (apiKey.read() !== '') return Promise.resolve();
    sessionStorage.removeItem(HELD);
    const session = currentSession();
    if (session === null) return Promise.resolve();
    return new Promise((resolve) => {
      const known = () => {
        listeners.delete(known);
        resolve();
      };
      listeners.add(known);
      setTimeout(known, PATIENCE_MS);
      channel.postMessage({ session } satisfies Message);
    });
  },
};

/** Why a text is not an API key; null = it has the form of one. Only the gateway can decide whether it is valid. */
export function formProblem(key: string): string | null {
  if (key === '') return 'Paste an API key.';
  if (!key.startsWith('pk_')) return 'This is not an API key: it does not begin with pk_.';
  return FORM.test(key)
    ? null
    : 'This key is not complete, or has characters that no key has. Copy it again.';
}

channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  const { session, key } = data;
  const own = apiKey.read();
  if (session !== currentSession()) return;
  if (key === undefined) {
    if (own !== '') channel.postMessage({ session, key: own } satisfies Message);
  } else if (own === '') {
    sessionStorage.setItem(HELD, `${session} ${key}`);
    tell();
  }
});
// Only other tabs cause this event. A tab that was asleep notices it when it continues.
addEventListener('storage', ({ key }) => {
  if (key === SESSION || key === null) void apiKey.whenKnown().then(tell);
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) void apiKey.whenKnown().then(tell);
});

function currentSession(): string | null {
  return localStorage.getItem(SESSION);
}

function tell(): void {
  for (const listener of listeners) listener();
}
