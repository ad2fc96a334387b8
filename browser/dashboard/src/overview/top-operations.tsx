import type { RequestOutcome, SeriesSumsFragment } from '../graphql/generated.js';
import { requestsOf, share } from './rates.js';
import { isOwn, nameOfSeries, OWN_LABEL, requestsOfSeries } from './series-names.js';
import { TopTable } from './top-table.js';
import { useUsageChoice } from './usage-choice.js';

interface Props {
  series: readonly SeriesSumsFragment[];
  /** `in the last hour` */
  inWords: string;
}

const COUNT = new Intl.NumberFormat();

/** Which operation failed most. */
export function TopOperations({ series, inWords }: Props) {
  const { mayReadKeys } = useUsageChoice();
  const rowOf = ({ name, label, total }: SeriesSumsFragment) => ({
    id: name,
    total,
    label: <Name>{nameOfSeries({ name, label }, 'OPERATION')}</Name>,
    to: (outcome?: RequestOutcome) => (mayReadKeys ? requestsOfSeries(name, 'OPERATION', outcome) : null),
  });
  const [worst] = series.toSorted((a, b) => b.total.failed - a.total.failed);
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
