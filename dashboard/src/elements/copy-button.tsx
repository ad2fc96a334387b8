import { useEffect, useState } from 'react';

interface Props {
  text: string;
  /** What is copied, such as `the value`. */
  what: string;
  label?: string;
}

const CONFIRMED_MS = 2_000;

export function CopyButton({ text, what, label = 'Copy' }: Props) {
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(setOutcome, CONFIRMED_MS, null);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => setOutcome((await write(text)) ? 'copied' : 'failed');
  return (
    <>
      <button type="button" className="small" aria-label={`${label} ${what}`} onClick={copy}>
        {outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Select it by hand' : label}
      </button>
      <span className="unseen" role="status">
        {outcome === 'copied' ? `Copied ${what}` : outcome === 'failed' ? 'Copying was refused' : ''}
      </span>
    </>
  );
}

/** Browsers give the clipboard to secure pages only; over plain HTTP the old way still works. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'unseen';
    // Inside an open dialog everything outside of it is inert.
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    return isDone;
  }
}
