import { Dialog as Ark } from '@ark-ui/react/dialog';
import { Portal } from '@ark-ui/react/portal';
import { X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';

interface Props {
  title: ReactNode;
  onClose: () => void;
  /** Only the dialog's own buttons close it: no Escape, no click beside it, no ✕. */
  isPinned?: boolean;
  /** Of a question: `alertdialog`. */
  role?: 'dialog' | 'alertdialog';
  /** Of a dialog with a table. */
  isWide?: boolean;
  children: ReactNode;
}

/** Where the focus goes first: the field to fill, or else the button that does no harm. */
const FIRST = ['[data-first]', 'input:enabled, select:enabled, textarea:enabled', '.actions button'];

const OPEN_LIST = '[role="combobox"][aria-expanded="true"]';

/** A modal window: the focus stays inside and starts in the first field. */
export function Dialog({
  title,
  onClose,
  isPinned = false,
  role = 'dialog',
  isWide = false,
  children,
}: Props) {
  const content = useRef<HTMLDivElement>(null);
  const first = () => {
    const found = FIRST.map((selector) => content.current?.querySelector<HTMLElement>(selector));
    return found.find(Boolean) ?? null;
  };
  return (
    <Ark.Root
      open
      role={role}
      closeOnEscape={!isPinned}
      closeOnInteractOutside={!isPinned}
      initialFocusEl={first}
      onEscapeKeyDown={(event) => {
        // The key closes the open list of a field only.
        if (content.current?.querySelector(OPEN_LIST)) event.preventDefault();
      }}
      onOpenChange={({ open }) => !open && onClose()}
    >
      <Portal>
        <Ark.Backdrop className="backdrop" />
        <Ark.Positioner className="dialog-place">
          <Ark.Content ref={content} className={isWide ? 'dialog dialog-wide' : 'dialog'}>
            <header className="dialog-head">
              <Ark.Title>{title}</Ark.Title>
              {!isPinned && (
                <button type="button" className="quiet icon small" aria-label="Close" onClick={onClose}>
                  <X size={16} aria-hidden="true" />
                </button>
              )}
            </header>
            {children}
          </Ark.Content>
        </Ark.Positioner>
      </Portal>
    </Ark.Root>
  );
}
