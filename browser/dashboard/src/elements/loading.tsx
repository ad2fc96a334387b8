import { useEffect, useState } from 'react';

interface Props {
  /** A name for the loading content, such as `the acts`. */
  what: string;
  /** The form of the content: rows of a list, cards side by side, a plot, or the overview. */
  shape?: 'rows' | 'cards' | 'plot' | 'overview';
  /** How many rows or cards. */
  count?: number;
}

const LONG_MS = 4_000;

/** The outline of the content that loads, so that nothing jumps when it arrives. Screen readers hear its name. */
export function Loading({ what, shape = 'rows', count = 4 }: Props) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(setLong, LONG_MS, true);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" role="status">
      <p className={isLong ? 'muted' : 'unseen'}>
        Loading {what}…{isLong && ' This takes longer than usual; the gateway may be busy.'}
      </p>
      <div className={`skeleton skeleton-${shape}`} aria-hidden="true">
        {Array.from({ length: shape === 'plot' ? 1 : count }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the outlines are all the same and never move.
          <span key={index} />
        ))}
      </div>
    </div>
  );
}
