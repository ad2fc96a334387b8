import { useMemo } from 'react';
import { lasting } from '../elements/countdown.js';
import { useAtNow } from '../elements/now.js';
import { inWords } from './in-words.js';

interface Block {
  /** The gateway refuses the same request again until the countdown ends. */
  isBlocked: boolean;
  /** The rest of a button's label, such as ` (9 s)`; empty = not blocked. */
  countdown: string;
}

/** Whether the refusal's Retry-After is still ahead: a request before it would only be refused, or be a strike. */
export function useBlock(error: unknown): Block {
  // The time of the retry counts from the arrival of the error, not from each drawing.
  const retryAtMs = useMemo(() => (error ? inWords(error).retryAtMs : null), [error]);
  const seconds = useAtNow((nowMs) => Math.max(0, Math.ceil(((retryAtMs ?? 0) - nowMs) / 1000)));
  return { isBlocked: seconds > 0, countdown: seconds > 0 ? ` (${lasting(seconds)})` : '' };
}
