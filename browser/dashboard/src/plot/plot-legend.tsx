import { Link } from '../routing/link.js';
import type { Layer } from './layers.js';

const COUNT = new Intl.NumberFormat();

export function PlotLegend({ layers }: { layers: readonly Layer[] }) {
  return (
    <ul className="legend" aria-label="Parts of the bars">
      {layers.map(({ name, label, color, total, to }) => (
        <li key={name}>
          <svg className={`key layer-${color}`} viewBox="0 0 10 10" aria-hidden="true">
            <rect width="10" height="10" />
          </svg>
          <bdi>{to === null ? label : <Link to={to}>{label}</Link>}</bdi>{' '}
          <strong>{COUNT.format(total)}</strong>
        </li>
      ))}
    </ul>
  );
}
