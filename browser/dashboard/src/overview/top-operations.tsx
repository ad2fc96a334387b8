import type { RequestOutcome, SeriesSumsFragment } from '../graphql/generated.js';
import { requestsOf, share } from './rates.js';
import { isOwn, nameOfSeries, OWN_LABEL, requestsOfSeries } from './series-names.js';
import { TopTable } from './top-table.js';
import { useUsageChoice } from './usage-choice.js';

interface Props {
  series: readonly SeriesSumsFragment[];
  /** By HTTP status. */
  statuses: readonly SeriesSumsFragment[];
  /** `in the last hour` */
  inWords: string;
}

const COUNT = new Intl.NumberFormat();

/** Which operation failed most. */
export function TopOperations({ series, statuses, inWords }: Props) {
  const { mayReadKeys } = useUsageChoice();
  const rowOf = ({ name, label, total }: SeriesSumsFragment) => ({
    id: name,
    total,
    label: <Name>{nameOfSeries({ name, label }, 'OPERATION')}</Name>,
    to: (outcome?: RequestOutcome) => (mayReadKeys ? requestsOfSeries(name, 'OPERATION', outcome) : null),
  });
  const faults = statuses
    .filter(({ name }) => name.startsWith('5'))
    .reduce((sum, { total }) => sum + total.failed, 0);
  const [worst] = series.toSorted((a, b) => weightOf(b) - weightOf(a));
  return (
    <section className="card" aria-labelledby="top-operations">
      <h2 id="top-operations">Operations</h2>
      <p className="answer">
        {worst && worst.total.failed > 0 ? (
          <>
            <bdi>{nameOfSeries(worst, 'OPERATION')}</bdi> failed most {inWords}:{' '}
            {COUNT.format(worst.total.failed)} of {COUNT.format(requestsOf(worst.total))} requests (
            {share(worst.total.failed, requestsOf(worst.total))}).
          </>
        ) : (
          `No operation failed ${inWords}.`
        )}
      </p>
      {faults > 0 && (
        <p className="answer">
          <span className="badge badge-bad">5xx</span> The gateway itself failed {COUNT.format(faults)}{' '}
          {faults === 1 ? 'request' : 'requests'}: no client is at fault.
        </p>
      )}
      {series.length > 0 && (
        <TopTable
          caption={`Usage by operation ${inWords}`}
          head="Operation"
          first="requests"
          rows={[...series.filter((each) => !isOwn(each)).map(rowOf), ...dashboardRow(series.filter(isOwn))]}
        />
      )}
    </section>
  );
}

/** Ranks by share and number: 3 of 3 requests outweigh 20 of 2,000, and 500 of 1,000 outweigh both. */
function weightOf({ total }: SeriesSumsFragment): number {
  return total.failed === 0 ? 0 : total.failed ** 2 / requestsOf(total);
}

/** The dashboard's own operations as one row; no row without any. */
function dashboardRow(own: readonly SeriesSumsFragment[]) {
  if (own.length === 0) return [];
  const total = { admitted: 0, refused: 0, failed: 0, units: 0 };
  for (const each of own) {
    total.admitted += each.total.admitted;
    total.refused += each.total.refused;
    total.failed += each.total.failed;
  }
  return [{ id: 'dashboard', label: <Name>{OWN_LABEL}</Name>, total, to: () => null }];
}

function Name({ children }: { children: string }) {
  return (
    <span className="top-name">
      <bdi>{children}</bdi>
    </span>
  );
}
