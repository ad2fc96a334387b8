import { useAtNow } from './now.js';

interface Props {
  untilMs: number;
}

/** The remaining time. Not a live region: an announcement every second would drown out everything else. */
export function Countdown({ untilMs }: Props) {
  const seconds = useAtNow((nowMs) => Math.max(0, Math.ceil((untilMs - nowMs) / 1000)));
  return <span className="countdown">{lasting(seconds)}</span>;
}

/** A number of seconds in words: `2 min 5 s`. */
export function lasting(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  if (minutes > 0) return `${minutes} min ${seconds % 60} s`;
  return `${seconds} s`;
}
