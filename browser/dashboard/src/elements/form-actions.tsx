import { useBlock } from '../errors/use-block.js';

interface FormActionsProps {
  /** The label of the submit button: `Add domain`. */
  submit: string;
  /** Its label while the form is being sent: `Adding…`. */
  submitting: string;
  isBusy: boolean;
  /** The last refusal: its Retry-After disables the submit button until then. */
  error: unknown;
  onCancel: () => void;
}

/** The buttons at the end of every form in a dialog. */
export function FormActions({ submit, submitting, isBusy, error, onCancel }: FormActionsProps) {
  const { isBlocked, countdown } = useBlock(error);
  return (
    <div className="actions">
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
      <button type="submit" className="primary" disabled={isBusy || isBlocked}>
        {isBusy ? submitting : submit}
        {countdown}
      </button>
    </div>
  );
}
