import { type ReactNode, useEffect, useRef } from 'react';
import { CopyButton } from '../elements/copy-button.js';

interface Props {
  token: string;
  /** Copied, or ticked: from then on the dialog can be closed. */
  isStored: boolean;
  onStored: (isStored: boolean) => void;
  onClose: () => void;
  children: ReactNode;
}

/** Shows a new key, only once: the gateway stores a digest and can't show the key again. */
export function NewKeyToken({ token, isStored, onStored, onClose, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  // It replaces the form, and with it the button that had the focus.
  useEffect(() => box.current?.querySelector('button')?.focus(), []);
  return (
    <>
      <p>
        <strong>Copy it now: it is not shown again.</strong> Store it with your other secrets.
      </p>
      <div className="token" ref={box}>
        <code>{token}</code>
        <CopyButton text={token} what="the API key" isWide onCopied={() => onStored(true)} />
      </div>
      {children}
      <label className="check">
        <input type="checkbox" checked={isStored} onChange={({ target }) => onStored(target.checked)} />I have
        stored it
      </label>
      <div className="actions">
        <button type="button" className="primary" disabled={!isStored} onClick={onClose}>
          Done
        </button>
      </div>
    </>
  );
}
