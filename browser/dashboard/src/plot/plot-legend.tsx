import type { Layer } from './layers.js';

const COUNT = new Intl.NumberFormat();

export function PlotLegend({ layers }: { layers: readonly Layer[] }) {
  return (
    <ul className="legend" aria-label="Parts of the bars">
      {layers.map(({ name, label, color, total }) => (
        <li key={name}>
          <svg className={`key layer-${color}`} viewBox="0 0 10 10" aria-hidden="true">
            <rect width="10" height="10" />
          </svg>
          <bdi>{label}</bdi> <strong>{COUNT.format(total)}</strong>
        </li>
      ))}
    </ul>
  );
}
