import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

interface Props {
  tone: 'bad' | 'warn' | 'good' | 'info';
  title: ReactNode;
  /** Announced at once, even if a screen reader is busy. */
  isUrgent?: boolean;
  children?: ReactNode;
}

const ICONS = { bad: CircleAlert, warn: TriangleAlert, good: CircleCheck, info: Info };

/** A framed message. The words also express its tone, because colour alone does not reach every reader. */
export function Notice({ tone, title, isUrgent = false, children }: Props) {
  const Icon = ICONS[tone];
  return (
    <div className={`notice notice-${tone}`} role={isUrgent ? 'alert' : undefined}>
      <Icon size={18} className="notice-mark" aria-hidden="true" />
      <div className="notice-text">
        <p className="notice-title">{title}</p>
        {children}
      </div>
    </div>
  );
}
