/** The outcome of a comparison of two programs in pairs of processes. */
export interface Comparison {
  /** The cost of the second program, in multiples of the first one's: above 1 = it costs more. */
  ratio: number;
  /** 99 % of such intervals contain the true ratio. */
  interval: [low: number, high: number];
  /** How probable a difference this large is if both programs cost the same. */
  probability: number;
}

export type Verdict = 'faster' | 'slower' | 'within the noise';

const OUTSIDE_INTERVAL = 0.01;
/** The chance of a false alarm in a run, whatever the number of its rows. */
const FALSE_ALARM = 0.05;
const LEAST_DIFFERENCE = 0.02;

/**
 * Wilcoxon's signed-rank test of the logarithms of the ratios of all pairs: exact, and nothing is assumed about the noise
 * of the machine. An outlier among the pairs changes little. The ratio is the median of the averages of every two pairs.
 */
export function compare(before: readonly number[], after: readonly number[]): Comparison {
  const logs = before.map((cost, pair) => Math.log((after[pair] as number) / cost));
  const differing = logs.filter((log) => log !== 0).toSorted((a, b) => Math.abs(a) - Math.abs(b));
  const positive = differing.reduce((sum, log, at) => (log > 0 ? sum + at + 1 : sum), 0);
  const rankSum = (differing.length * (differing.length + 1)) / 2;
  const extreme = atMost(rankSums(differing.length), Math.min(positive, rankSum - positive));
  const averages = logs
    .flatMap((one, at) => logs.slice(at).map((other) => (one + other) / 2))
    .toSorted(byValue);
  const chances = rankSums(logs.length);
  let outside = 0;
  while (2 * atMost(chances, outside) <= OUTSIDE_INTERVAL) outside += 1;
  const at = (position: number) => Math.exp(averages.at(position) ?? Number.NaN);
  const middle = averages.length / 2;
  return {
    ratio: Math.sqrt(at(Math.floor(middle)) * at(Math.ceil(middle) - 1)),
    interval: [at(Math.max(0, outside - 1)), at(-Math.max(1, outside))],
    probability: Math.min(1, 2 * extreme),
  };
}

/** The verdicts on all comparisons of a run, in their order. */
export function judge(comparisons: readonly Comparison[]): Verdict[] {
  const probabilities = corrected(comparisons.map(({ probability }) => probability));
  return comparisons.map(({ ratio }, at) => {
    const isChance = (probabilities[at] as number) > FALSE_ALARM || isSmall({ ratio });
    if (isChance) return 'within the noise';
    return ratio > 1 ? 'slower' : 'faster';
  });
}

/** Whether the difference is no reason to refuse a change. */
function isSmall({ ratio }: Pick<Comparison, 'ratio'>): boolean {
  return Math.abs(Math.log(ratio)) < LEAST_DIFFERENCE;
}

/** Holm's correction: a longer run has no more false alarms than a shorter one. */
function corrected(probabilities: readonly number[]): number[] {
  const ascending = probabilities.toSorted(byValue);
  const steps = ascending.map((probability, at) => Math.min(1, probability * (ascending.length - at)));
  return probabilities.map((probability) => Math.max(...steps.slice(0, ascending.indexOf(probability) + 1)));
}

/** The probability of each sum of the ranks 1 to `count`, if a coin decides for each rank whether it counts. */
function rankSums(count: number): number[] {
  let chances = [1];
  for (let rank = 1; rank <= count; rank += 1)
    chances = Array.from(
      { length: chances.length + rank },
      (_, sum) => ((chances[sum] ?? 0) + (chances[sum - rank] ?? 0)) / 2,
    );
  return chances;
}

function atMost(chances: readonly number[], sum: number): number {
  return chances.slice(0, sum + 1).reduce((total, chance) => total + chance, 0);
}

function byValue(a: number, b: number): number {
  return a - b;
}
