import { Toaster as Ark, createToaster, Toast } from '@ark-ui/react/toast';
import { CircleCheck, X } from 'lucide-react';
import type { ReactNode } from 'react';

const SHOWN_MS = 6_000;

const toaster = createToaster({
  placement: 'bottom-end',
  gap: 12,
  duration: SHOWN_MS,
  pauseOnPageIdle: true,
});

interface Offer {
  /** The action of a button in the message, such as `Undo`. */
  label: string;
  onClick: () => void;
}

/** Tells that an act is done, beside the page: `Revoked storefront`. Announced to screen readers, too. */
export function tellDone(title: ReactNode, offer?: Offer): void {
  toaster.create({ title, type: 'success', ...(offer ? { action: offer } : {}) });
}

/** The place of the messages, once on each page. */
export function Toaster() {
  return (
    <Ark toaster={toaster}>
      {(toast) => (
        <Toast.Root className="toast">
          <CircleCheck size={18} className="toast-mark" aria-hidden="true" />
          <Toast.Title>{toast.title}</Toast.Title>
          {toast.action && <Toast.ActionTrigger className="small">{toast.action.label}</Toast.ActionTrigger>}
          <Toast.CloseTrigger className="quiet icon small" aria-label="Dismiss">
            <X size={16} aria-hidden="true" />
          </Toast.CloseTrigger>
        </Toast.Root>
      )}
    </Ark>
  );
}
