/** The outcome of a comparison of two samples of processes. */
export interface Comparison {
  /** Of the geometric means: below 1 = the second sample is lower. */
  ratio: number;
  /** How probable a difference this large is if both samples are of the same program. */
  probability: number;
}

/**
 * Fisher's permutation test: of all ways to divide the processes into two samples, the share whose difference is at least
 * as large. It assumes nothing about the noise of the machine. Five processes each have 252 ways, so 0.008 is the least.
 */
export function compare(before: readonly number[], after: readonly number[]): Comparison {
  const logs = [...before, ...after].map(Math.log);
  const total = sum(logs);
  const differenceOf = (sumAfter: number) => sumAfter / after.length - (total - sumAfter) / before.length;
  const measured = differenceOf(sum(logs.slice(before.length)));
  const sums = sumsOf(logs, after.length);
  // Rounding must not exclude the measured division.
  const extreme = sums.filter((one) => Math.abs(differenceOf(one)) >= Math.abs(measured) - 1e-12);
  return { ratio: Math.exp(measured), probability: extreme.length / sums.length };
}

/** The sum of every choice of `count` numbers. */
function sumsOf(numbers: readonly number[], count: number): number[] {
  if (count === 0) return [0];
  const [first, ...others] = numbers;
  if (first === undefined) return [];
  return [...sumsOf(others, count - 1).map((rest) => first + rest), ...sumsOf(others, count)];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
