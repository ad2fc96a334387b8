import type { ReactNode } from 'react';
import { ErrorNotice } from '../errors/error-notice.js';
import { Dialog } from './dialog.js';

interface Props {
  title: ReactNode;
  /** The word on the button that does it. */
  verb: string;
  isBusy: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
  /** What the act stops or changes. */
  children: ReactNode;
}

/** Asks before something that can't be taken back. */
export function Confirmation({ title, verb, isBusy, error, onConfirm, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error ? <ErrorNotice error={error} /> : null}
      <div className="actions">
        <button type="button" className="danger" disabled={isBusy} onClick={onConfirm}>
          {isBusy ? 'Working…' : verb}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
