import { type Layer, type PlotPoint, totalAt } from './layers.js';

interface Props {
  layers: readonly Layer[];
  points: readonly PlotPoint[];
  at: number;
}

const COUNT = new Intl.NumberFormat();

/** The numbers of one bar, beside it. Screen readers hear the same from the plot's cursor. */
export function PlotTooltip({ layers, points, at }: Props) {
  const point = points[at];
  if (!point) return null;
  const middle = ((at + 0.5) / points.length) * 100;
  const isLate = middle > 50;
  return (
    <div
      className={`plot-tooltip ${isLate ? 'plot-tooltip-late' : ''}`}
      style={{ left: `${middle}%` }}
      aria-hidden="true"
    >
      <p className="plot-tooltip-head">
        <span>{point.long}</span>
        <strong>{COUNT.format(totalAt(layers, at))}</strong>
      </p>
      <ul>
        {layers
          .filter(({ counts }) => (counts[at] ?? 0) > 0)
          .toReversed()
          .map(({ name, label, color, counts }) => (
            <li key={name}>
              <svg className={`key layer-${color}`} viewBox="0 0 10 10" aria-hidden="true">
                <rect width="10" height="10" />
              </svg>
              <bdi>{label}</bdi>
              <span>{COUNT.format(counts[at] ?? 0)}</span>
            </li>
          ))}
      </ul>
      {point.note && <p>{point.note}</p>}
    </div>
  );
}

/** The same in one sentence. */
export function inOneSentence({ layers, points, at }: Props): string {
  const point = points[at];
  if (!point) return '';
  const parts = layers
    .filter(({ counts }) => (counts[at] ?? 0) > 0)
    .map(({ label, counts }) => `${label} ${COUNT.format(counts[at] ?? 0)}`);
  const total = totalAt(layers, at);
  const sum = `${COUNT.format(total)} ${total === 1 ? 'request' : 'requests'}`;
  return [`${point.long}: ${sum}`, parts.join(', '), point.note].filter(Boolean).join('; ');
}
