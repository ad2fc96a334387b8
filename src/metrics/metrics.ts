import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { AnsweredRequest } from '../kernel/answered-request.js';

/** The metrics of this process for Prometheus. Labels are few and fixed: none contains a value that a client can choose. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly requests = new Histogram({
    name: 'petstore_request_seconds',
    help: 'Response time, by door and status.',
    labelNames: ['door', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });
  private readonly decisions = new Counter({
    name: 'petstore_rate_limit_decisions_total',
    help: "Requests charged to a plan or an address, by the limiter's decision.",
    labelNames: ['decision'],
    registers: [this.registry],
  });
  private readonly managementDecisions = new Counter({
    name: 'petstore_management_decisions_total',
    help: "Requests that spend nothing of a plan, by the limiter's decision: everything except pets, and reading the schema.",
    labelNames: ['decision'],
    registers: [this.registry],
  });

  private readonly domainEvents = new Counter({
    name: 'petstore_domain_events_total',
    help: 'Events of custom domains, by name.',
    labelNames: ['event'],
    registers: [this.registry],
  });

  constructor(
    sharing: () => { isDegraded: boolean; outages: number; localDecisions: number },
    cached: () => { hits: number; shared: number; misses: number },
  ) {
    this.read(
      'petstore_rate_limit_degraded',
      '1 while Redis is unavailable and this process limits alone.',
      () => Number(sharing().isDegraded),
    );
    this.read('petstore_rate_limit_outages', 'Outages of Redis.', () => sharing().outages);
    this.read(
      'petstore_rate_limit_local_decisions',
      'Requests decided without Redis.',
      () => sharing().localDecisions,
    );
    this.read('petstore_response_cache_hits', 'Lists served from the cache.', () => cached().hits);
    this.read(
      'petstore_response_cache_shared',
      'Lists that shared the in-flight read of another request.',
      () => cached().shared,
    );
    this.read(
      'petstore_response_cache_misses',
      'Cacheable lists that were read from the database.',
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

  observe({ door, status, durationMs, paidBy, outcome }: AnsweredRequest): void {
    this.requests.observe({ door, status }, durationMs / 1000);
    if (paidBy === null) return;
    const decisions = paidBy === 'plan' ? this.decisions : this.managementDecisions;
    decisions.inc({ decision: outcome === 'refused' ? 'refused' : 'admitted' });
  }

  observeDomain(event: string): void {
    this.domainEvents.inc({ event });
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
