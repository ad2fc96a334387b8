import type { SeriesSumsFragment } from '../graphql/generated.js';
import { NeedsScope } from '../session/needs-scope.js';
import { share } from './rates.js';
import { nameOfSeries, OTHER, requestsOfSeries } from './series-names.js';
import { TopTable } from './top-table.js';
import type { KnownUsage } from './use-live-usage.js';

interface Props {
  /** Undefined = the key of the session may not see it. */
  series: readonly SeriesSumsFragment[] | undefined;
  apiKeys: KnownUsage['apiKeys'];
  /** `in the last hour` */
  inWords: string;
}

/** Which key spent the quota. */
export function TopKeys({ series, apiKeys, inWords }: Props) {
  return (
    <section className="card" aria-labelledby="top-keys">
      <h2 id="top-keys">Keys</h2>
      <NeedsScope scope="KEYS" to="see the usage by key">
        {series && <Keys series={series} apiKeys={apiKeys} inWords={inWords} />}
      </NeedsScope>
    </section>
  );
}

function Keys({ series, apiKeys, inWords }: Props & { series: readonly SeriesSumsFragment[] }) {
  // Keys of the same name, such as a rolled key and its successor, differ only in their prefix.
  const prefixes = new Map(apiKeys?.map(({ id, prefix }) => [id, prefix]));
  const all = series.reduce((sum, { total }) => sum + total.units, 0);
  const [most] = series
    .filter(({ name }) => name !== OTHER)
    .toSorted((a, b) => b.total.units - a.total.units);
  return (
    <>
      <p className="answer">
        {most && most.total.units > 0 ? (
          <>
            <bdi>{most.label}</bdi> spent {share(most.total.units, all)} of the quota units {inWords}.
          </>
        ) : (
          `No quota unit was spent ${inWords}.`
        )}
      </p>
      {series.length > 0 && (
        <TopTable
          caption={`Usage by key ${inWords}`}
          head="Key"
          first="units"
          rows={series.map(({ name, label, total }) => ({
            id: name,
            total,
            to: (outcome) => requestsOfSeries(name, 'KEY', outcome),
            label: (
              <span className="top-name">
                <bdi>{nameOfSeries({ name, label }, 'KEY')}</bdi>
                {prefixes.has(name) && <code>{prefixes.get(name)}…</code>}
              </span>
            ),
          }))}
        />
      )}
    </>
  );
}
