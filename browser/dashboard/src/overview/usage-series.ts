import type { UsagePointPartsFragment } from '../graphql/generated.js';

/** In order from the bottom of a bar to its top. */
export const SERIES = [
  {
    key: 'graphql-admitted',
    label: 'GraphQL admitted',
    of: ({ graphql, management }: UsagePointPartsFragment) => graphql.admitted - management.admitted,
  },
  { key: 'rest-admitted', label: 'REST admitted', of: ({ rest }: UsagePointPartsFragment) => rest.admitted },
  {
    key: 'graphql-refused',
    label: 'GraphQL refused',
    of: ({ graphql, management }: UsagePointPartsFragment) => graphql.refused - management.refused,
  },
  { key: 'rest-refused', label: 'REST refused', of: ({ rest }: UsagePointPartsFragment) => rest.refused },
  {
    key: 'management',
    label: 'Management, outside the plan',
    of: ({ management }: UsagePointPartsFragment) => management.admitted + management.refused,
  },
] as const;

/** In hundredths of the height: every count above zero must be visible, however high the others are. */
const LEAST_HEIGHT = 1;

export function totalOf(point: UsagePointPartsFragment): number {
  return SERIES.reduce((sum, { of }) => sum + of(point), 0);
}

/** The segments of a bar from the bottom up, on a height of 100. */
export function countsOf(point: UsagePointPartsFragment, top: number) {
  let y = 100;
  return SERIES.flatMap(({ key, of }) => {
    const count = of(point);
    if (count === 0) return [];
    const height = Math.max(LEAST_HEIGHT, (count / top) * 100);
    y -= height;
    return [{ key, y, height }];
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
