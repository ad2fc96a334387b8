import type { ReactNode } from 'react';

interface Props {
  tone: 'bad' | 'warn' | 'good' | 'info';
  title: ReactNode;
  /** Read out at once, whatever a screen reader is at. */
  isUrgent?: boolean;
  children?: ReactNode;
}

/** A framed message. Its tone is in the words, too: colour alone tells nothing. */
export function Notice({ tone, title, isUrgent = false, children }: Props) {
  return (
    <div className={`notice notice-${tone}`} role={isUrgent ? 'alert' : undefined}>
      <p className="notice-title">{title}</p>
      {children}
    </div>
  );
}
