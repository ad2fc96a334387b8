import { type Layer, type PlotPoint, totalAt } from './layers.js';

interface Props {
  title: string;
  /** The head of the column of times. */
  head: string;
  layers: readonly Layer[];
  points: readonly PlotPoint[];
}

const COUNT = new Intl.NumberFormat();

/** A plot's numbers as a table, newest first, to read or to copy. */
export function PlotTable({ title, head, layers, points }: Props) {
  return (
    <details>
      <summary>Show as a table</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard. */}
      <section className="scroll" aria-label={`${title}, as a table`} tabIndex={0}>
        <table>
          <caption className="unseen">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{head}</th>
              {layers.map(({ name, label }) => (
                <th scope="col" key={name} className="number">
                  <bdi>{label}</bdi>
                </th>
              ))}
              <th scope="col" className="number">
                All
              </th>
            </tr>
          </thead>
          <tbody>
            {points
              .map((point, at) => (
                <tr key={point.at}>
                  <th scope="row">{point.long}</th>
                  {layers.map(({ name, counts }) => (
                    <td key={name} className="number">
                      {COUNT.format(counts[at] ?? 0)}
                    </td>
                  ))}
                  <td className="number">{COUNT.format(totalAt(layers, at))}</td>
                </tr>
              ))
              .reverse()}
          </tbody>
        </table>
      </section>
    </details>
  );
}
