import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface RequestMetric {
  door: 'graphql' | 'rest' | 'other';
  status: number;
  seconds: number;
  /** What the limiter decided; null = it was not asked to. */
  decision: 'admitted' | 'refused' | null;
  /** The plan was to pay; otherwise an allowance beside it. */
  isOfPlan: boolean;
}

/** What the process tells a Prometheus server. Labels are few and fixed: none holds what a client can choose. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly requests = new Histogram({
    name: 'petstore_request_seconds',
    help: 'Time to answer, by door and status.',
    labelNames: ['door', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });
  private readonly decisions = new Counter({
    name: 'petstore_rate_limit_decisions_total',
    help: 'Requests that were charged to a plan or an address, by what the limiter decided.',
    labelNames: ['decision'],
    registers: [this.registry],
  });
  private readonly managementDecisions = new Counter({
    name: 'petstore_management_decisions_total',
    help: 'Requests that spend nothing of a plan, by what the limiter decided: everything but pets, and reading the schema.',
    labelNames: ['decision'],
    registers: [this.registry],
  });

  private readonly domainEvents = new Counter({
    name: 'petstore_domain_events_total',
    help: 'What happened to custom domains, by name of the event.',
    labelNames: ['event'],
    registers: [this.registry],
  });

  constructor(
    sharing: () => { isDegraded: boolean; outages: number; localDecisions: number },
    cached: () => { hits: number; shared: number; misses: number },
  ) {
    this.read(
      'petstore_rate_limit_degraded',
      '1 while Redis is away and this process limits by itself.',
      () => Number(sharing().isDegraded),
    );
    this.read('petstore_rate_limit_outages', 'How often Redis was lost.', () => sharing().outages);
    this.read(
      'petstore_rate_limit_local_decisions',
      'Requests decided without Redis.',
      () => sharing().localDecisions,
    );
    this.read('petstore_response_cache_hits', 'Lists answered from memory.', () => cached().hits);
    this.read(
      'petstore_response_cache_shared',
      'Lists answered by a read that was under way for another request.',
      () => cached().shared,
    );
    this.read(
      'petstore_response_cache_misses',
      'Lists that might have been in memory and were read from the database.',
      () => cached().misses,
    );
    collectDefaultMetrics({ register: this.registry });
  }

  private read(name: string, help: string, value: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(value());
      },
    });
  }

  observe({ door, status, seconds, decision, isOfPlan }: RequestMetric): void {
    this.requests.observe({ door, status }, seconds);
    if (decision === null) return;
    const decisions = isOfPlan ? this.decisions : this.managementDecisions;
    decisions.inc({ decision });
  }

  observeDomain(event: string): void {
    this.domainEvents.inc({ event });
  }

  /** `GET /metrics`, for a server on a port of its own. */
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
