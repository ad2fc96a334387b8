import { ArrowDown } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { RequestOutcome, SumsFragment } from '../graphql/generated.js';
import { Link } from '../routing/link.js';
import { requestsOf, share } from './rates.js';

interface TopRow {
  id: string;
  label: ReactNode;
  total: SumsFragment;
  /** The list of its requests with this outcome, below `/dashboard`; null = there is none. */
  to: (outcome?: RequestOutcome) => string | null;
}

type Column = 'requests' | 'units' | 'failed' | 'refused';

interface Props {
  caption: string;
  /** The head of the first column: `Key`. */
  head: string;
  rows: readonly TopRow[];
  first: Column;
}

const SHOWN = 6;
const COUNT = new Intl.NumberFormat();
const COLUMNS: readonly { column: Column; label: string; of: (total: SumsFragment) => number }[] = [
  { column: 'requests', label: 'Requests', of: requestsOf },
  { column: 'units', label: 'Units', of: ({ units }) => units },
  { column: 'failed', label: 'Errors', of: ({ failed }) => failed },
  { column: 'refused', label: 'Refused', of: ({ refused }) => refused },
];

/** Keys or operations, the largest in the chosen column first. */
export function TopTable({ caption, head, rows, first }: Props) {
  const [sortedBy, sortBy] = useState<Column>(first);
  const [isWhole, setWhole] = useState(false);
  const { of } = COLUMNS.find(({ column }) => column === sortedBy) ?? { of: requestsOf };
  const sorted = rows.toSorted(
    (a, b) => of(b.total) - of(a.total) || requestsOf(b.total) - requestsOf(a.total),
  );
  const shown = isWhole ? sorted : sorted.slice(0, SHOWN);
  const highest = Math.max(1, ...rows.map(({ total }) => of(total)));
  const allUnits = rows.reduce((sum, { total }) => sum + total.units, 0);
  return (
    <>
      <table className="tops">
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            {COLUMNS.map(({ column, label }) => (
              <th
                scope="col"
                key={column}
                className="number"
                aria-sort={column === sortedBy ? 'descending' : undefined}
              >
                <button type="button" className="quiet sort" onClick={() => sortBy(column)}>
                  {label}
                  {column === sortedBy && <ArrowDown size={13} aria-hidden="true" />}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ id, label, total, to }) => (
            <tr key={id}>
              <th scope="row">
                {label}
                <svg className="top-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(of(total) / highest) * 100} height="1" />
                </svg>
              </th>
              <Part count={requestsOf(total)} of="requests" to={to()} />
              <Part count={total.units} of="units" whole={allUnits} />
              <Part
                count={total.failed}
                of="errors"
                whole={requestsOf(total)}
                tone="fact-failed"
                to={to('FAILED')}
              />
              <Part
                count={total.refused}
                of="refused"
                whole={requestsOf(total)}
                tone="fact-refused"
                to={to('REFUSED')}
              />
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > SHOWN && (
        <button type="button" className="small" onClick={() => setWhole(!isWhole)}>
          {isWhole ? `Show the first ${SHOWN}` : `Show all ${sorted.length}`}
        </button>
      )}
    </>
  );
}

interface PartProps {
  count: number;
  /** The counted things, for screen readers. */
  of: string;
  whole?: number;
  tone?: string;
  to?: string | null;
}

/** A count with its share, and the way to the requests behind it. */
function Part({ count, of, whole, tone = '', to = null }: PartProps) {
  const number = COUNT.format(count);
  return (
    <td className={`number ${count > 0 ? tone : ''}`}>
      {to === null || count === 0 ? (
        number
      ) : (
        <Link to={to}>
          {number}
          <span className="unseen"> {of}: show the requests</span>
        </Link>
      )}
      {whole !== undefined && count > 0 && <span className="part">{share(count, whole)}</span>}
    </td>
  );
}
