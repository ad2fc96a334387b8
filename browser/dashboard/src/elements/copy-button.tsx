import { Check, Copy, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Tooltip } from './tooltip.js';

interface Props {
  text: string;
  /** A name for the copied text, such as `the value`. */
  what: string;
  /** Shows the word beside the icon. */
  isWide?: boolean;
  onCopied?: () => void;
}

const CONFIRMED_MS = 2_000;
const OUTCOMES = {
  ready: { word: 'Copy', icon: Copy },
  copied: { word: 'Copied', icon: Check },
  failed: { word: 'Select it manually', icon: TriangleAlert },
};

export function CopyButton({ text, what, isWide = false, onCopied }: Props) {
  const [outcome, setOutcome] = useState<keyof typeof OUTCOMES>('ready');
  useEffect(() => {
    if (outcome === 'ready') return;
    const timer = setTimeout(setOutcome, CONFIRMED_MS, 'ready');
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    const isCopied = await write(text);
    setOutcome(isCopied ? 'copied' : 'failed');
    if (isCopied) onCopied?.();
  };
  const { word, icon: Icon } = OUTCOMES[outcome];
  return (
    <>
      <Tooltip content={word}>
        <button
          type="button"
          className={isWide ? 'small' : 'quiet icon small'}
          aria-label={`Copy ${what}`}
          onClick={copy}
        >
          <Icon size={15} aria-hidden="true" />
          {isWide && word}
        </button>
      </Tooltip>
      <span className="unseen" role="status">
        {outcome === 'copied' ? `Copied ${what}` : outcome === 'failed' ? 'Copying was refused' : ''}
      </span>
    </>
  );
}

/** Browsers allow the clipboard only on secure pages; over plain HTTP `execCommand` still works. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'unseen';
    // An open dialog takes the focus back from everything outside it.
    (document.querySelector('.dialog') ?? document.body).append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    return isDone;
  }
}
