import { Segments } from '../elements/segments.js';
import { PlotLegend } from '../plot/plot-legend.js';
import { PlotTable } from '../plot/plot-table.js';
import { StackedPlot } from '../plot/stacked-plot.js';
import { DashboardReadsSwitch } from '../requests/dashboard-reads-switch.js';
import { requestsOf } from './rates.js';
import { choose, DIMENSIONS, useUsageChoice, WINDOW_WORDS, WINDOWS } from './usage-choice.js';
import { UsageFacts } from './usage-facts.js';
import { layersOf } from './usage-layers.js';
import { pointsOf } from './usage-points.js';
import type { KnownUsage } from './use-live-usage.js';

interface Props {
  known: KnownUsage;
  /** Another view is on its way. */
  isStale: boolean;
}

const HEADS = { HOUR: 'Minute', DAY: 'Hour', MONTH: 'Day' } as const;
const COUNT = new Intl.NumberFormat();

/** The requests of the chosen time, stacked by the chosen dimension, with their rates and latency. */
export function UsageCard({ known, isStale }: Props) {
  const choice = useUsageChoice();
  const by = DIMENSIONS.find(({ value }) => value === known.by)?.label.replace(/^[A-Z](?=[a-z])/, (letter) =>
    letter.toLowerCase(),
  );
  const title = `Requests ${WINDOW_WORDS[known.window]}, by ${by}`;
  const layers = layersOf(known, choice.mayReadKeys);
  const points = pointsOf(known);
  const total = requestsOf(known.usage.plot.total);
  const sums = layers.map(({ label, total: sum }) => `${COUNT.format(sum)} ${label}`).join(', ');
  return (
    <section className="card usage" aria-labelledby="usage" aria-busy={isStale}>
      <header className="usage-head">
        <h2 id="usage">Usage</h2>
        <div className="usage-choices">
          <Segments
            legend="Time"
            choices={WINDOWS}
            value={choice.window}
            onChange={(window) => choose({ ...choice, window })}
          />
          <Segments
            legend="Stacked by"
            choices={DIMENSIONS.filter(({ value }) => value !== 'KEY' || choice.mayReadKeys)}
            value={choice.by}
            onChange={(dimension) => choose({ ...choice, by: dimension })}
          />
        </div>
      </header>
      <DashboardReadsSwitch
        isShown={choice.dashboards}
        hidden={null}
        onSwitch={(dashboards) => choose({ ...choice, dashboards })}
      />
      <UsageFacts known={known} />
      <StackedPlot
        title={title}
        description={`${COUNT.format(total)} ${total === 1 ? 'request' : 'requests'}${sums && `: ${sums}`}.`}
        layers={layers}
        points={points}
      />
      {total === 0 ? (
        <p className="muted">
          No request in this time. Send one with the quick start, and it appears here within seconds.
        </p>
      ) : (
        <>
          <PlotLegend layers={layers} />
          <PlotTable title={title} head={HEADS[known.window]} layers={layers} points={points} />
        </>
      )}
    </section>
  );
}
