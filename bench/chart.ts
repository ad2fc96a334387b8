import { GATEWAY } from './contestant.js';
import type { NamedResult, RunResult } from './report.js';

const WIDTH = 760;
const LABEL_WIDTH = 230;
const VALUE_WIDTH = 110;
const BAR_HEIGHT = 18;
const BAR_GAP = 4;
const TITLE_HEIGHT = 30;
const GROUP_GAP = 14;
const MARGIN = 16;

/** An SVG for light and dark pages: one group of bars for each workload with peers, all on one scale. */
export function chart({ rows, machine, pace }: RunResult): string {
  const groups = rows.filter(({ isInChart }) => isInChart);
  const most = Math.max(...groups.flatMap(({ measured }) => measured.map((one) => one.requestsPerSecond)));
  let y = MARGIN;
  const parts = groups.map((group) => {
    const drawn = drawGroup(group, y, most);
    y += TITLE_HEIGHT + group.measured.length * (BAR_HEIGHT + BAR_GAP) + GROUP_GAP;
    return drawn;
  });
  const about = [
    `Requests per second on one core, more is better; medians of ${pace.rounds} rounds of ${pace.seconds} s.`,
    `${machine.processor}, Node ${machine.node}, MySQL ${machine.mysql}.`,
  ].map((line, index) => {
    return `<text class="note" x="${MARGIN}" y="${y + 10 + index * 15}">${escaped(line)}</text>`;
  });
  const height = y + 15 * about.length + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Requests per second beside peers">
<style>
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.note { font-size: 11px; fill: #59636e }
.bar { fill: #afb8c1 }
.ours { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .note { fill: #9198a1 }
  .bar { fill: #4d5661 }
  .ours { fill: #4493f8 }
}
</style>
${parts.join('\n')}
${about.join('\n')}
</svg>
`;
}

function drawGroup({ name, measured }: NamedResult, top: number, most: number): string {
  const [workload = name] = name.split(' / ');
  const bars = measured.map((one, index) => {
    const y = top + TITLE_HEIGHT + index * (BAR_HEIGHT + BAR_GAP);
    const textY = y + BAR_HEIGHT - 5;
    const length = Math.max(
      1,
      ((WIDTH - 2 * MARGIN - LABEL_WIDTH - VALUE_WIDTH) * one.requestsPerSecond) / most,
    );
    const value = Math.round(one.requestsPerSecond).toLocaleString('en');
    return `<text x="${MARGIN}" y="${textY}">${escaped(one.name)}</text>
<rect class="${one.name === GATEWAY ? 'ours' : 'bar'}" x="${MARGIN + LABEL_WIDTH}" y="${y}" width="${length.toFixed(1)}" height="${BAR_HEIGHT}" rx="3"/>
<text x="${(MARGIN + LABEL_WIDTH + length + 8).toFixed(1)}" y="${textY}">${value}</text>`;
  });
  return `<text class="title" x="${MARGIN}" y="${top + 18}">${escaped(workload)}</text>\n${bars.join('\n')}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
