/** The colour of a layer: a class of the style sheet. */
export type LayerColor = '1' | '2' | '3' | '4' | '5' | '6' | 'failed' | 'refused' | 'other';

/** A part of every bar, from the bottom up. */
export interface Layer {
  name: string;
  label: string;
  color: LayerColor;
  /** A count for each point. */
  counts: readonly number[];
  total: number;
  /** The page about it, below `/dashboard`; null = none. */
  to: string | null;
}

/** A place on the axis of time. */
export interface PlotPoint {
  at: string;
  /** Below the axis. */
  short: string;
  /** With its date and zone. */
  long: string;
  /** Other events, such as `3 refused`; empty = none. */
  note: string;
}

/** In hundredths of the height: every count above zero must be visible, however high the others are. */
const LEAST_HEIGHT = 1;

export function totalAt(layers: readonly Layer[], at: number): number {
  return layers.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0);
}

/** The segments of a bar from the bottom up, on a height of 100. */
export function segmentsAt(layers: readonly Layer[], at: number, top: number) {
  let y = 100;
  return layers.flatMap(({ name, color, counts }) => {
    const count = counts[at] ?? 0;
    if (count === 0) return [];
    const height = Math.max(LEAST_HEIGHT, (count / top) * 100);
    y -= height;
    return [{ name, color, y, height }];
  });
}

/** Their halves are whole numbers from 10 on. */
const ROUND = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10];

/** The smallest of 4, 10, 12, 16, 20, 30 … that is not below the highest bar. */
export function scaleTop(highest: number): number {
  if (highest <= 4) return 4;
  const power = 10 ** Math.max(1, Math.floor(Math.log10(highest)));
  return Math.round((ROUND.find((factor) => factor * power >= highest) ?? 10) * power);
}
