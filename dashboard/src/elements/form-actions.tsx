interface FormActionsProps {
  /** What sending the form does, in words: `Add domain`. */
  submit: string;
  /** The same while it is under way: `Adding…`. */
  submitting: string;
  isBusy: boolean;
  onCancel: () => void;
}

/** The end of every form in a dialog. */
export function FormActions({ submit, submitting, isBusy, onCancel }: FormActionsProps) {
  return (
    <div className="actions">
      <button type="submit" className="primary" disabled={isBusy}>
        {isBusy ? submitting : submit}
      </button>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}
