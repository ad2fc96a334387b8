import { type ReactNode, useId } from 'react';

interface Described {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

interface Props {
  label: string;
  hint?: ReactNode;
  /** The problem with the entered value. */
  problem?: string | null;
  children: (described: Described) => ReactNode;
}

/** A control with its label, its hint and its problem, connected for screen readers. */
export function Field({ label, hint, problem = null, children }: Props) {
  const id = useId();
  const ids = [hint ? `${id}-hint` : '', problem ? `${id}-problem` : ''].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': ids || undefined, 'aria-invalid': problem ? true : undefined })}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p className="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
