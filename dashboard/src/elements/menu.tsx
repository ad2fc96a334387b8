import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';

interface Props {
  /** Whose menu it is, for screen readers. */
  label: string;
  items: readonly { label: string; isDanger?: boolean; onChoose: () => void }[];
}

/** A button that opens a list of acts. WAI-ARIA menu button: arrows, Home, End, Escape. */
export function Menu({ label, items }: Props) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const entries = () => [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];

  useEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const closeOutside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', closeOutside);
    return () => document.removeEventListener('pointerdown', closeOutside);
  }, [isOpen]);

  const close = () => {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOpen) return;
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === 'Escape') close();
    else if (event.key === 'Tab') setOpen(false);
    else if (to !== undefined) all[to % all.length]?.focus();
    if (event.key === 'Escape' || to !== undefined) event.preventDefault();
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the button and the menu inside.
    <div className="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        className="small"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={label}
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true">⋯</span>
      </button>
      {isOpen && (
        <div className="menu-list" role="menu" id={id} aria-label={label}>
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              className={item.isDanger ? 'danger-text' : undefined}
              onClick={() => {
                close();
                item.onChoose();
              }}
            >
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
