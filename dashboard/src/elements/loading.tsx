import { useEffect, useState } from 'react';

interface Props {
  /** What is waited for, such as `the pets`. */
  what: string;
}

const LONG_MS = 4_000;

/** In words from the start: nobody has to guess what a turning circle waits for. */
export function Loading({ what }: Props) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(setLong, LONG_MS, true);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="loading" role="status">
      Loading {what}…{isLong && ' This takes longer than usual; the gateway may be busy.'}
    </p>
  );
}
