import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { AnsweredRequest } from '../kernel/answered-request.js';

/** The values of labels that are known from the start. Each series begins at 0, so that an alert sees its first increase. */
interface LabelValues {
  domainEvents: readonly string[];
  /** Names of background work. */
  works: readonly string[];
  /** Of requests that were refused during an overload. */
  shedPlans: readonly string[];
}

export interface Reading {
  /** That of a counter ends in `_total`. */
  name: string;
  help: string;
  label?: string;
  /** Values by the value of the only label, or one value without a label; null = there is none. */
  read(): Values | Promise<Values>;
}

type Values = number | Record<string, number> | null;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const DECISIONS = ['admitted', 'refused'];

/**
 * The metrics of this process for Prometheus. Labels are few and fixed: none contains a value that a client can choose.
 * D-140.
 */
export class Metrics {
  private readonly registry = new Registry();
  private readonly requests = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Response time, by pattern of the route, method and status.',
    labelNames: ['route', 'method', 'status'],
    buckets: SECONDS,
    registers: [this.registry],
  });
  private readonly decisions: Counter<'decision'>;
  private readonly managementDecisions: Counter<'decision'>;
  private readonly domainEvents: Counter<'event'>;
  private readonly failures: Counter<'work'>;
  private readonly shedRequests: Counter<'plan'>;

  constructor({ domainEvents, works, shedPlans }: LabelValues) {
    this.decisions = this.counter({
      name: 'petstore_rate_limit_decisions_total',
      help: "Requests charged to a plan or an address, by the limiter's decision.",
      label: 'decision',
      values: DECISIONS,
    });
    this.managementDecisions = this.counter({
      name: 'petstore_management_decisions_total',
      help: "Requests that spend nothing of a plan, by the limiter's decision: everything except pets, and reading the schema.",
      label: 'decision',
      values: DECISIONS,
    });
    this.domainEvents = this.counter({
      name: 'petstore_domain_events_total',
      help: 'Events of custom domains, by name.',
      label: 'event',
      values: domainEvents,
    });
    this.failures = this.counter({
      name: 'petstore_background_failures_total',
      help: 'Background work that failed; it is repeated. By name of the work.',
      label: 'work',
      values: works,
    });
    this.shedRequests = this.counter({
      name: 'petstore_requests_shed_total',
      help: 'Requests refused during an overload, by the plan of their project; unknown = no key, or one this process does not remember.',
      label: 'plan',
      values: shedPlans,
    });
    collectDefaultMetrics({ register: this.registry });
  }

  private counter<Label extends string>({ name, help, label, values }: FixedCounter<Label>): Counter<Label> {
    const counter = new Counter({ name, help, labelNames: [label], registers: [this.registry] });
    for (const value of values) counter.inc({ [label]: value } as Record<Label, string>, 0);
    return counter;
  }

  /** Adds the metrics that are read when Prometheus asks. */
  addReadings(readings: readonly Reading[]): void {
    for (const { name, help, label, read } of readings) {
      const Metric = name.endsWith('_total') ? Counter : Gauge;
      new Metric({
        name,
        help,
        labelNames: label ? [label] : [],
        registers: [this.registry],
        async collect() {
          const values = await read();
          this.reset();
          if (typeof values === 'number') this.inc(values);
          else
            for (const [value, count] of Object.entries(values ?? {}))
              this.inc({ [label ?? '']: value }, count);
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

  observeDomain(event: string): void {
    this.domainEvents.inc({ event });
  }

  observeFailure(work: string): void {
    this.failures.inc({ work });
  }

  observeShed(plan: string, requests: number): void {
    this.shedRequests.inc({ plan }, requests);
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

interface FixedCounter<Label extends string> {
  name: string;
  help: string;
  label: Label;
  values: readonly string[];
}
