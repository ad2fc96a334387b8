import { useNow } from './now.js';

interface Props {
  untilMs: number;
}

/** How long something still takes. Not a live region: read out every second it would drown everything else. */
export function Countdown({ untilMs }: Props) {
  const seconds = Math.max(0, Math.ceil((untilMs - useNow()) / 1000));
  return <span className="countdown">{lasting(seconds)}</span>;
}

function lasting(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  if (minutes > 0) return `${minutes} min ${seconds % 60} s`;
  return `${seconds} s`;
}
