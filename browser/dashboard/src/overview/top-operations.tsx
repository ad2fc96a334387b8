import type { SeriesSumsFragment } from '../graphql/generated.js';
import { requestsOf, share } from './rates.js';
import { nameOfSeries } from './series-names.js';
import { TopTable } from './top-table.js';

interface Props {
  series: readonly SeriesSumsFragment[];
  /** `in the last hour` */
  inWords: string;
}

const COUNT = new Intl.NumberFormat();

/** Which operation failed most. */
export function TopOperations({ series, inWords }: Props) {
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
          rows={series.map(({ name, label, total }) => ({
            id: name,
            total,
            label: (
              <span className="top-name">
                <bdi>{nameOfSeries({ name, label }, 'OPERATION')}</bdi>
              </span>
            ),
          }))}
        />
      )}
    </section>
  );
}
