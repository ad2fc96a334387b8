import { type FormEvent, useEffect, useRef } from 'react';

interface Props {
  /** Why the last key was refused; empty = it was not. */
  problem: string;
  onKey: (key: string) => void;
  onClose: () => void;
}

/** Asks for an API key. Escape closes it. */
export function KeyDialog({ problem, onKey, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key')).trim();
    if (key !== '') onKey(key);
  };
  return (
    <dialog ref={dialog} className="key-dialog" aria-labelledby="key-title" onClose={onClose}>
      <h2 id="key-title">API key</h2>
      <p>The key stays in this tab until you close it, and is sent only to this gateway.</p>
      <form onSubmit={submit}>
        <label htmlFor="key">Key</label>
        <input
          id="key"
          name="key"
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="pk_…"
          required
          aria-describedby="key-problem"
        />
        <p id="key-problem" role="alert" className="problem">
          {problem}
        </p>
        <div className="key-actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="primary">
            Use this key
          </button>
        </div>
      </form>
    </dialog>
  );
}
