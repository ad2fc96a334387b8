import { type PointerEvent, useId, useState } from 'react';
import { type Layer, type PlotPoint, scaleTop, segmentsAt, totalAt } from './layers.js';
import { inOneSentence, PlotTooltip } from './plot-tooltip.js';

interface Props {
  /** The title of the plot, such as `Requests in the last hour, by API`. */
  title: string;
  /** The sums in words. */
  description: string;
  layers: readonly Layer[];
  points: readonly PlotPoint[];
}

const SHORT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const STEP = 10;
const GAP = 2;

/**
 * Stacked bars, oldest first. The tooltip follows the pointer; with the keyboard, a range input moves it from bar to bar,
 * and tells screen readers the numbers of each. No library: the policy forbids inline styles, and a canvas has no keyboard.
 */
export function StackedPlot({ title, description, layers, points }: Props) {
  const id = useId();
  const [at, setAt] = useState<number | null>(null);
  const last = points.length - 1;
  const top = scaleTop(Math.max(0, ...points.map((_, index) => totalAt(layers, index))));
  const width = Math.max(1, points.length) * STEP;
  const follow = ({ currentTarget, clientX }: PointerEvent) => {
    const box = currentTarget.getBoundingClientRect();
    const index = Math.floor(((clientX - box.left) / box.width) * points.length);
    setAt(Math.min(last, Math.max(0, index)));
  };
  const labels = [0, Math.floor(points.length / 2), last].map((index) => points[index]);
  const shown = at ?? last;

  return (
    <div className="plot-area">
      <div className="plot-scale" aria-hidden="true">
        <span>{SHORT.format(top)}</span>
        <span>{SHORT.format(top / 2)}</span>
        <span>0</span>
      </div>
      <div
        className="plot-field"
        onPointerDown={follow}
        onPointerMove={follow}
        onPointerLeave={() => setAt(null)}
      >
        <input
          type="range"
          className="plot-cursor"
          aria-label={`${title}: the bar to read`}
          aria-valuetext={inOneSentence({ layers, points, at: shown })}
          min={0}
          max={last}
          value={shown}
          onChange={({ target }) => setAt(Number(target.value))}
          onFocus={() => setAt((before) => before ?? last)}
          onBlur={() => setAt(null)}
          onKeyDown={({ key }) => key === 'Escape' && setAt(null)}
        />
        <svg
          className="plot-bars"
          role="img"
          aria-labelledby={`${id}-title ${id}-desc`}
          viewBox={`0 0 ${width} 100`}
          preserveAspectRatio="none"
        >
          <title id={`${id}-title`}>{title}</title>
          <desc id={`${id}-desc`}>{description}</desc>
          {[0, 50].map((y) => (
            <line key={y} className="grid-line" x1="0" x2={width} y1={y} y2={y} />
          ))}
          {at !== null && <rect className="plot-hover" x={at * STEP} y="0" width={STEP} height="100" />}
          {points.map((point, index) => (
            <g key={point.at}>
              {segmentsAt(layers, index, top).map(({ name, color, y, height }) => (
                <rect
                  key={name}
                  className={`layer-${color}`}
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
        {at !== null && <PlotTooltip layers={layers} points={points} at={at} />}
      </div>
      <div className="plot-times" aria-hidden="true">
        {labels.map((point) => point && <span key={point.at}>{point.short}</span>)}
      </div>
    </div>
  );
}
