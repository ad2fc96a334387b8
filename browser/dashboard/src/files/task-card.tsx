import { X } from 'lucide-react';
import type { ReactNode } from 'react';

interface Props {
  label: string;
  title: ReactNode;
  /** Undefined = it cannot be dismissed yet. */
  onDismiss?: () => void;
  children: ReactNode;
}

/** A task that runs beside the page, in a corner. */
export function TaskCard({ label, title, onDismiss, children }: Props) {
  return (
    <section className="task" aria-label={label}>
      <header className="task-head">
        <p className="task-title">{title}</p>
        {onDismiss && (
          <button type="button" className="quiet icon small" aria-label="Dismiss" onClick={onDismiss}>
            <X size={16} aria-hidden="true" />
          </button>
        )}
      </header>
      {children}
    </section>
  );
}
