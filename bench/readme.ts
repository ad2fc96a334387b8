import { FLOOR } from './contestant.js';
import type { Measured } from './measure.js';
import type { NamedResult, RunResult } from './report.js';
import { measuredOf } from './row.js';

const BEGIN = '<!-- `npm run bench` writes this part. -->\n';
const END = '<!-- The end of that part. -->';

/** The README with the figures of this run. Throws if the place for them is missing. */
export function withResults(readme: string, result: RunResult): string {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`README.md has no ${BEGIN}`);
  return readme.slice(0, begin + BEGIN.length) + partOf(result) + readme.slice(end);
}

function partOf({ rows, commit, date, machine, pace }: RunResult): string {
  const lists = ['REST', 'GraphQL'].map((door) => {
    const { ours, floor } = figuresOf(rows.find(({ name }) => name.startsWith(`${door} list, hot /`)));
    return { ours, floor, ratio: (ours / floor).toFixed(1) };
  });
  const [rest, graphql] = lists as [(typeof lists)[0], (typeof lists)[0]];
  const compared = rows.filter(({ goal, measured }) => goal.unit === '×' && measured.length > 0);
  const others = rows.filter(({ goal }) => goal.unit === 'ms' || goal.unit === 'MB');
  return `
A list from memory costs **${rest.ratio} × an empty answer**: ${micros(rest.ours)} of processor time. A bare \`node:http\`, which checks nothing and sends the same bytes from a constant, takes ${micros(rest.floor)}. Over GraphQL it costs ${graphql.ratio} ×.

![Requests per second beside peers](bench/results.svg)

| Workload | Beside | Measured | Processor time | Beside | Empty answer |
| --- | --- | --- | --- | --- | --- |
${compared.map(lineOf).join('\n')}

${others.map((row) => `${row.name}: ${measuredOf(row)}`).join('. ')}.
Measured on ${date} at commit ${commit}: ${machine.processor}, Node ${machine.node}, MySQL ${machine.mysql}; medians of ${pace.rounds} rounds of ${pace.seconds} s.

`;
}

function lineOf(row: NamedResult): string {
  const [workload = '', beside = ''] = row.name.split(' / ');
  const { ours, theirs, floor } = figuresOf(row);
  const cells = [workload, beside, measuredOf(row), micros(ours), micros(theirs), micros(floor)];
  return `| ${cells.join(' | ')} |`;
}

/** Processor time for each answer, in microseconds; the goal compares the first two contestants. */
function figuresOf(row: NamedResult | undefined) {
  const of = (measured: Measured | undefined) => measured?.cpuMicros ?? Number.NaN;
  const [ours, theirs] = row?.measured ?? [];
  const floor = row?.measured.find(({ name }) => name === FLOOR);
  return { ours: of(ours), theirs: of(theirs), floor: of(floor) };
}

function micros(number: number): string {
  return Number.isNaN(number) ? 'unknown' : `${Math.round(number)} µs`;
}
