import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { databaseKinds } from '../support/databases.js';
import { graphql, rest } from '../support/http/client.js';
import { ExposedMetrics } from '../support/metrics/exposed-metrics.js';
import { readExpression } from '../support/metrics/promql.js';
import { testOnMysql } from '../support/on-databases.js';
import { freePort } from '../support/servers/daemon.js';
import { promtool } from '../support/servers/promtool.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';
import { startApp, type TestApp } from '../support/start-app.js';

const ALERTS = 'deploy/prometheus-alerts.yml';
/** Where the alerts link to. */
const RUNBOOKS = '{{ or $externalLabels.runbooks "docs/operations.md" }}';
const DASHBOARD = 'deploy/grafana-dashboard.json';
/** Added by Prometheus to every series. */
const OF_THE_SCRAPE = ['job', 'instance'];

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}

/** SQLite has no pool, whose metrics the alerts and the dashboard show. */
const KIND = databaseKinds().includes('mysql') ? 'mysql' : 'sqlite';

let app: TestApp;
let redis: RedisServer;
let exposed: ExposedMetrics;
beforeAll(async () => {
  redis = await startRedis();
  const port = await freePort();
  app = await startApp({ kind: KIND, env: { METRICS_PORT: String(port), REDIS_URL: redis.url } });
  const { token } = await app.tenant();
  await rest(app.url, '/v1/toys', { token });
  await graphql(app.url, '{ project { slug } }', { token });
  await rest(app.url, '/readyz');
  exposed = new ExposedMetrics((await rest(`http://127.0.0.1:${port}`, '/metrics')).text);
});
afterAll(async () => {
  await app.stop();
  await redis.stop();
});

async function alerts(): Promise<Alert[]> {
  const { groups } = parse(await readFile(ALERTS, 'utf8'));
  return groups.flatMap(({ rules }: { rules: Alert[] }) => rules);
}

async function dashboardExpressions(): Promise<{ expr: string; labels: string[] }[]> {
  const { panels, templating, annotations } = JSON.parse(await readFile(DASHBOARD, 'utf8'));
  const targets = panels.flatMap((panel: { targets?: object[] }) => panel.targets ?? []);
  const asked = [...targets, ...annotations.list].map(({ expr, legendFormat = '' }) => ({
    expr: expr
      .replaceAll(/\$__\w+/g, '5m')
      .replaceAll('$job', 'petstore')
      .replaceAll('$instance', 'a'),
    labels: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label),
  }));
  const listed = templating.list.filter(({ type }: { type: string }) => type === 'query');
  return [
    ...asked,
    ...listed.map(({ query }: { query: { query: string } }) => {
      const [, expr = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(query.query) ?? [];
      return { expr: expr.replaceAll('$job', 'petstore'), labels: [label] };
    }),
  ];
}

/** The names in the expression that the gateway does not expose. */
function unknownNames(expr: string, shown: readonly string[] = []): string[] {
  const { selectors, groupedBy } = readExpression(expr);
  const known = new Set(OF_THE_SCRAPE);
  const wrong = selectors.flatMap(({ metric, matchers }) => {
    const labels = metric === 'up' ? [] : exposed.labelsOf(metric);
    if (labels === null) return [metric];
    for (const label of labels) known.add(label);
    return matchers
      .filter(({ label }) => !OF_THE_SCRAPE.includes(label))
      .filter(({ label, operator, value }) => !hasValue(metric, { label, operator, value }))
      .map(({ label, value }) => `${metric}{${label}="${value}"}`);
  });
  return [...wrong, ...[...groupedBy, ...shown].filter((label) => !known.has(label))];
}

/** Statuses appear with the first such answer; every other value is there from the start. */
function hasValue(
  metric: string,
  { label, operator, value }: Record<'label' | 'operator' | 'value', string>,
) {
  const values = exposed.valuesOf(metric, label);
  if (label === 'status') return values.length > 0;
  const pattern = new RegExp(`^(?:${operator.endsWith('~') ? value : value.replace(/[^\w]/g, '\\$&')})$`);
  return values.some((one) => pattern.test(one));
}

describe('deploy/prometheus-alerts.yml', () => {
  testOnMysql('Alerts-1: every metric, label and value in it is exposed by the gateway', async () => {
    const rules = await alerts();
    expect(rules.length).toBeGreaterThan(10);
    for (const { alert, expr, annotations } of rules) {
      const shown = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(
        ([, label = '']) => label,
      );
      expect([alert, unknownNames(expr, shown)]).toEqual([alert, []]);
    }
    expect(unknownNames('rate(petstore_nothing_total[5m]) by (le)')).toEqual([
      'petstore_nothing_total',
      'le',
    ]);
    expect(unknownNames('petstore_domain_events_total{event="other"}')).toHaveLength(1);
  });

  test('Alerts-2: promtool accepts the rules, and alerts fire and do not fire as their cases say', async () => {
    expect(await promtool('check', 'rules', ALERTS)).toContain('SUCCESS');
    expect(await promtool('test', 'rules', 'deploy/prometheus-alerts.test.yml')).toContain('SUCCESS');
  });

  test('Alerts-3: each alert has a severity, two sentences and three first steps in docs/operations.md', async () => {
    const document = await readFile('docs/operations.md', 'utf8');
    for (const { alert, labels, annotations } of await alerts()) {
      expect(['critical', 'warning']).toContain(labels.severity);
      expect(Object.keys(annotations)).toEqual(['summary', 'description', 'runbook_url']);
      expect(annotations.runbook_url).toBe(`${RUNBOOKS}#${alert.toLowerCase()}`);
      const [, section = ''] = document.split(`\n### ${alert}\n`);
      const [text = ''] = section.split(/\n##/);
      expect([alert, text.match(/^\d\. /gm)]).toEqual([alert, ['1. ', '2. ', '3. ']]);
    }
  });
});

testOnMysql(
  'Alerts-4: every metric, label and value in deploy/grafana-dashboard.json is exposed by the gateway',
  async () => {
    const expressions = await dashboardExpressions();
    expect(expressions.length).toBeGreaterThan(20);
    for (const { expr, labels } of expressions) {
      expect([expr, unknownNames(expr, labels)]).toEqual([expr, []]);
    }
  },
);

test('Metrics-4: counters end in _total, and units are in names', () => {
  const own = exposed.metrics.filter((name) => /^(petstore|http|db)_/.test(name));
  expect(own.length).toBeGreaterThan(15);
  for (const name of own) {
    expect([name, exposed.typeOf(name) === 'counter']).toEqual([name, name.endsWith('_total')]);
    if (exposed.typeOf(name) === 'histogram') expect(name).toMatch(/_seconds$/);
  }
});
