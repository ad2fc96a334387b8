import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { AnsweredRequest } from '../kernel/answered-request.js';
import type { Reading } from '../kernel/capability.js';

interface Known {
  /** Of the gateway: names of metrics begin with it. D-266. */
  slug: string;
  /** The nouns of the gateway in words. */
  nouns: string;
  // The values of labels. Each series begins at 0, so that an alert sees its first increase.
  domainEvents: readonly string[];
  works: readonly string[];
  /** Of requests that were refused during an overload. */
  shedPlans: readonly string[];
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const DECISIONS = ['admitted', 'refused'];

/**
 * The metrics of this process for Prometheus. Labels are few and fixed: none contains a value that a client can choose.
 * D-140.
 */
export class Metrics {
  private readonly registry = new Registry();
  /** The start of a metric's name, such as `acme_books_`; metrics of OpenTelemetry have none. */
  readonly prefix = `${this.known.slug.replaceAll('-', '_')}_`;
  private readonly requests = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Response time, by pattern of the route, method and status.',
    labelNames: ['route', 'method', 'status'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  private readonly decisions = this.counter('decision', DECISIONS, {
    name: `${this.prefix}rate_limit_decisions_total`,
    help: "Requests charged to a plan or an address, by the limiter's decision.",
  });
  private readonly managementDecisions = this.counter('decision', DECISIONS, {
    name: `${this.prefix}management_decisions_total`,
    help: `Requests that spend nothing of a plan, by the limiter's decision: everything except ${this.known.nouns}, and reading the schema.`,
  });
  readonly domainEvents = this.counter('event', this.known.domainEvents, {
    name: `${this.prefix}domain_events_total`,
    help: 'Events of custom domains, by name.',
  });
  readonly failures = this.counter('work', this.known.works, {
    name: `${this.prefix}background_failures_total`,
    help: 'Background work that failed; it is repeated. By name of the work.',
  });
  readonly shedRequests = this.counter('plan', this.known.shedPlans, {
    name: `${this.prefix}requests_shed_total`,
    help: 'Requests refused during an overload, by the plan of their project; unknown = no key, or one this process does not remember.',
  });

  constructor(private readonly known: Known) {
    collectDefaultMetrics({ register: this.registry });
  }

  private counter<Label extends string>(
    label: Label,
    values: readonly string[],
    about: { name: string; help: string },
  ): Counter<Label> {
    const counter = new Counter({ ...about, labelNames: [label], registers: [this.registry] });
    for (const value of values) counter.inc({ [label]: value } as Record<Label, string>, 0);
    return counter;
  }

  /** Adds the metrics that are read when Prometheus asks. */
  addReadings(readings: readonly Reading[]): void {
    for (const [name, help, read, label] of readings) {
      const Metric = name.endsWith('_total') ? Counter : Gauge;
      new Metric({
        name,
        help,
        labelNames: [label ?? []].flat(),
        registers: [this.registry],
        async collect() {
          const values = await read();
          this.reset();
          if (typeof values === 'number') this.inc(values);
          else if (Array.isArray(values)) this.inc(...values);
          else
            for (const [value, count] of Object.entries(values ?? {}))
              this.inc({ [String(label)]: value }, count);
        },
      });
    }
  }

  observe({ route, method, status, durationMs, paidBy, outcome }: AnsweredRequest): void {
    this.requests.observe({ route, method, status }, durationMs / 1000);
    if (paidBy === null) return;
    const decisions = paidBy === 'plan' ? this.decisions : this.managementDecisions;
    decisions.inc({ decision: outcome === 'refused' ? 'refused' : 'admitted' });
  }

  /** `GET /metrics`, for a server on a separate port. */
  readonly answer = async (
    { method = '', url }: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    if (url !== '/metrics') return void response.writeHead(404).end();
    if (!['GET', 'HEAD'].includes(method)) return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
    try {
      const text = await this.registry.metrics();
      response.writeHead(200, { 'content-type': this.registry.contentType }).end(text);
    } catch {
      response.writeHead(500).end();
    }
  };
}
