import { useId } from 'react';
import { REDIRECT_STATUSES } from './routing-plan.js';

interface Props {
  hostname: string;
  /** The hosts that it can redirect to. */
  others: readonly string[];
  redirect: { to: string; status: number } | null;
  problem: string | null;
  /** `to` empty = it serves the project. */
  onChange: (to: string, status: number) => void;
}

const PERMANENT = 301;

export function RoutingRow({ hostname, others, redirect, problem, onChange }: Props) {
  const id = useId();
  const status = redirect?.status ?? PERMANENT;
  return (
    <div className="routing-row">
      <code className="routing-host">{hostname}</code>
      <select
        aria-label={`What ${hostname} does`}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : id}
        value={redirect?.to ?? ''}
        onChange={(event) => onChange(event.target.value, status)}
      >
        <option value="">Serves the project</option>
        {others.map((other) => (
          <option key={other} value={other}>
            Redirects to {other}
          </option>
        ))}
      </select>
      {redirect && (
        <select
          aria-label={`HTTP status of the redirect from ${hostname}`}
          value={status}
          onChange={(event) => onChange(redirect.to, Number(event.target.value))}
        >
          {REDIRECT_STATUSES.map(({ status: each, meaning }) => (
            <option key={each} value={each}>
              {each}, {meaning}
            </option>
          ))}
        </select>
      )}
      {problem !== null && (
        <p className="problem" id={id} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
