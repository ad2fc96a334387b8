import type { ReactNode } from 'react';
import { CopyButton } from '../elements/copy-button.js';
import { Dialog } from '../elements/dialog.js';

interface Props {
  title: ReactNode;
  token: string;
  onClose: () => void;
  children: ReactNode;
}

/** A new key, this once: the gateway keeps a digest and can't show it again. */
export function NewKeyToken({ title, token, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        <strong>Copy it now: it is not shown again.</strong> Keep it where secrets belong.
      </p>
      <p className="token">
        <code>{token}</code>
        <CopyButton text={token} what="the API key" />
      </p>
      {children}
      <div className="actions">
        <button type="button" className="primary" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </Dialog>
  );
}
