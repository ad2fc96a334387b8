import type { Config } from '../../ground/config/config.js';
import type { TracingSettings } from '../../ground/config/tracing-settings.js';
import { askEngine } from '../../ground/database/cluster/server-facts.js';
import type { Database } from '../../ground/database/database.js';
import { version } from '../../ground/kernel/package.js';
import { startTracing } from './start-tracing.js';
import { type MeterParts, TracedCache, TracedMeter, traceStatements } from './traced-work.js';

interface Traced {
  gateway: { slug: string };
  config: Config;
  db: Database;
  now: () => number;
}

/** Starts tracing, and makes the parts whose work becomes spans. `place` is where charges are counted now. */
export async function traceParts(
  settings: TracingSettings,
  { gateway: { slug }, config, db, now }: Traced,
  place: () => 'redis' | 'memory',
) {
  const { environment, trustedProxies, database } = config;
  const tracing = startTracing({ settings, slug, version: version(), environment, trustedProxies, now });
  const { tracer } = tracing;
  const { engine } = await askEngine(database, (sql) => db.execute(sql, []));
  db.traceStatements(traceStatements(tracer, engine));
  const { domain, order } = tracer.attributes;
  return {
    tracing,
    createMeter: (...parts: MeterParts) => new TracedMeter(tracer, place, ...parts),
    cache: new TracedCache(tracer),
    /** Work on a domain becomes a span. */
    withinTask: <T>(name: string, facts: { domain: string; order?: string }, run: () => Promise<T>) =>
      tracer.withinTask(name, { [domain]: facts.domain, ...(facts.order && { [order]: facts.order }) }, run),
  };
}
