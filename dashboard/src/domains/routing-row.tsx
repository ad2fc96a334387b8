import { REDIRECT_STATUSES } from './routing-plan.js';

interface Props {
  hostname: string;
  /** Where it can redirect to. */
  others: readonly string[];
  redirect: { to: string; status: number } | null;
  /** `to` empty = it answers as the project. */
  onChange: (to: string, status: number) => void;
}

const PERMANENT = 301;

export function RoutingRow({ hostname, others, redirect, onChange }: Props) {
  const status = redirect?.status ?? PERMANENT;
  return (
    <div className="routing-row">
      <code className="routing-host">{hostname}</code>
      <select
        aria-label={`What ${hostname} does`}
        value={redirect?.to ?? ''}
        onChange={(event) => onChange(event.target.value, status)}
      >
        <option value="">Answers as the project</option>
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
          {REDIRECT_STATUSES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      )}
    </div>
  );
}
