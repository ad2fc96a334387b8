import { Countdown } from '../elements/countdown.js';
import { useNow } from '../elements/now.js';
import { banEndOf } from '../keys/key-state.js';
import { Link } from '../routing/link.js';

interface Props {
  keys: readonly { id: string; name: string; prefix: string; bannedUntil: string | null }[];
}

/** Names every key that is banned now. */
export function BannedKeys({ keys }: Props) {
  const nowMs = useNow();
  const banned = keys.flatMap((key) => {
    const untilMs = banEndOf(key, nowMs);
    return untilMs === null ? [] : [{ ...key, untilMs }];
  });
  if (banned.length === 0) return null;
  return (
    <ul className="banned" aria-label="Banned keys">
      {banned.map(({ id, name, prefix, untilMs }) => (
        <li key={id}>
          <span className="badge badge-bad">Banned</span>
          <Link to="/settings/keys" className="banned-name">
            <bdi>{name}</bdi>
          </Link>
          <code>{prefix}…</code>
          <span className="muted">
            ends in <Countdown untilMs={untilMs} />
          </span>
        </li>
      ))}
    </ul>
  );
}
