import type { UsagePointPartsFragment } from '../graphql/generated.js';
import { SERIES } from './usage-series.js';

interface Props {
  caption: string;
  head: string;
  points: readonly UsagePointPartsFragment[];
  name: (point: UsagePointPartsFragment) => string;
}

/** A plot's numbers as a table, to read or to copy. */
export function UsageTable({ caption, head, points, name }: Props) {
  return (
    <details>
      <summary>Show as a table</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard. */}
      <section className="scroll" aria-label={`${caption}, as a table`} tabIndex={0}>
        <table>
          <caption className="unseen">{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{head}</th>
              {SERIES.map(({ key, label }) => (
                <th scope="col" key={key} className="number">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.toReversed().map((point) => (
              <tr key={point.at}>
                <th scope="row">{name(point)}</th>
                {SERIES.map(({ key, of }) => (
                  <td key={key} className="number">
                    {of(point)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}
