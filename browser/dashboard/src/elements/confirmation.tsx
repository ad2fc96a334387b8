import type { ReactNode } from 'react';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { Dialog } from './dialog.js';

interface Props {
  title: ReactNode;
  /** The label of the confirming button. */
  verb: string;
  /** The action can be repeated or undone. */
  isHarmless?: boolean;
  isBusy: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
  /** The effects of the action. */
  children: ReactNode;
}

/** Asks for confirmation before an action that has effects on others. The focus starts on Cancel. */
export function Confirmation({
  title,
  verb,
  isHarmless = false,
  isBusy,
  error,
  onConfirm,
  onClose,
  children,
}: Props) {
  const { isBlocked, countdown } = useBlock(error);
  return (
    <Dialog title={title} onClose={onClose} role="alertdialog">
      {children}
      {error ? <ErrorNotice error={error} /> : null}
      <div className="actions">
        <button type="button" data-first onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className={isHarmless ? 'primary' : 'danger'}
          disabled={isBusy || isBlocked}
          onClick={onConfirm}
        >
          {isBusy ? 'Working…' : verb}
          {countdown}
        </button>
      </div>
    </Dialog>
  );
}
