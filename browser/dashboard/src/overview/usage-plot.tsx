import { useId, useState } from 'react';
import type { UsagePointPartsFragment } from '../graphql/generated.js';
import { countsOf, SERIES, scaleTop, totalOf } from './usage-series.js';
import { UsageTable } from './usage-table.js';

interface Props {
  title: string;
  unit: 'minute' | 'day';
  points: readonly UsagePointPartsFragment[];
  format: Intl.DateTimeFormatOptions;
}

const COUNT = new Intl.NumberFormat();
const requests = (count: number) => `${COUNT.format(count)} ${count === 1 ? 'request' : 'requests'}`;
const STEP = 10;
const GAP = 2;

/** Stacked bars, oldest first: admitted and refused requests, by door. The table below shows the same numbers. */
export function UsagePlot({ title, unit, points, format }: Props) {
  const id = useId();
  const [at, setAt] = useState<number | null>(null);
  const top = scaleTop(Math.max(0, ...points.map(totalOf)));
  const width = Math.max(1, points.length) * STEP;
  const name = (point: UsagePointPartsFragment) =>
    new Intl.DateTimeFormat(undefined, format).format(new Date(point.at));
  const sums = SERIES.map(({ of }) => points.reduce((sum, point) => sum + of(point), 0));
  const total = sums.reduce((sum, each) => sum + each, 0);
  const shown = at === null ? undefined : points[at];
  const labels = [0, Math.floor(points.length / 2), points.length - 1]
    .map((index) => points[index])
    .filter(Boolean);
  const description = `${requests(total)}: ${SERIES.map(({ label }, index) => `${COUNT.format(sums[index] ?? 0)} ${label}`).join(', ')}.`;

  return (
    <section className="card plot" aria-labelledby={`${id}-head`}>
      <h2 id={`${id}-head`}>{title}</h2>
      <ul className="legend">
        {SERIES.map(({ key, label }, index) => (
          <li key={key}>
            <svg className={`key ${key}`} viewBox="0 0 10 10" aria-hidden="true">
              <rect width="10" height="10" />
            </svg>
            {label} <strong>{COUNT.format(sums[index] ?? 0)}</strong>
          </li>
        ))}
      </ul>
      <div className="plot-area">
        <div className="plot-scale" aria-hidden="true">
          <span>{COUNT.format(top)}</span>
          <span>{COUNT.format(top / 2)}</span>
          <span>0</span>
        </div>
        <svg
          className="plot-bars"
          role="img"
          aria-labelledby={`${id}-title ${id}-desc`}
          viewBox={`0 0 ${width} 100`}
          preserveAspectRatio="none"
          onPointerMove={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            const index = Math.floor(((event.clientX - box.left) / box.width) * points.length);
            setAt(Math.min(points.length - 1, Math.max(0, index)));
          }}
          onPointerLeave={() => setAt(null)}
        >
          <title id={`${id}-title`}>{title}</title>
          <desc id={`${id}-desc`}>{description}</desc>
          {[0, 50].map((y) => (
            <line key={y} className="grid-line" x1="0" x2={width} y1={y} y2={y} />
          ))}
          {at !== null && <rect className="plot-hover" x={at * STEP} y="0" width={STEP} height="100" />}
          {points.map((point, index) => (
            <g key={point.at}>
              {countsOf(point, top).map(({ key, y, height }) => (
                <rect
                  key={key}
                  className={key}
                  x={index * STEP + GAP / 2}
                  y={y}
                  width={STEP - GAP}
                  height={height}
                />
              ))}
            </g>
          ))}
          <line className="base-line" x1="0" x2={width} y1="100" y2="100" />
        </svg>
        <div className="plot-times" aria-hidden="true">
          {labels.map((point) => point && <span key={point.at}>{name(point)}</span>)}
        </div>
      </div>
      <p className="plot-readout muted" aria-hidden="true">
        {shown
          ? `${name(shown)}: ${SERIES.map(({ label, of }) => `${COUNT.format(of(shown))} ${label}`).join(', ')}`
          : total === 0
            ? `No request in this time. Send one, and it appears here within a ${unit === 'day' ? 'few seconds' : 'minute'}.`
            : `${requests(total)} in total. Point at a bar to see one ${unit}.`}
      </p>
      <UsageTable
        caption={title}
        head={unit === 'day' ? 'Day (UTC)' : 'Minute'}
        points={points}
        name={name}
      />
    </section>
  );
}
