/** The colour of a layer: a class of the style sheet. */
export type LayerColor = '1' | '2' | '3' | '4' | '5' | '6' | 'failed' | 'refused' | 'other';

/** A part of every bar, from the bottom up. */
export interface Layer {
  name: string;
  label: string;
  color: LayerColor;
  /** One for each point. */
  counts: readonly number[];
  total: number;
}

/** A place on the axis of time. */
export interface PlotPoint {
  at: string;
  /** Below the axis. */
  short: string;
  /** With its date and zone. */
  long: string;
  /** What else happened, such as `3 refused`; empty = nothing. */
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

/** The smallest of 4, 10, 20, 40, 100 … that is not below the highest bar. */
export function scaleTop(highest: number): number {
  let top = 4;
  for (let power = 10; top < highest; power *= 10) {
    top = [1, 2, 4, 10].map((factor) => factor * power).find((each) => each >= highest) ?? power * 10;
  }
  return top;
}
