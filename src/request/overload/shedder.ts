import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../ground/kernel/errors.js';
import { PLAN_NAMES, type Plan } from '../../tenants/projects/plans.js';
import { hasLargeBody, RestingConnections } from '../http/connections/resting-connections.js';
import { unhookedError } from '../http/error-reply.js';
import { onWorkDone } from '../http/server.js';
import { ConcurrencyLimit, LoadWatch } from './concurrency-limit.js';
import { type ActiveProject, ActiveProjects, type Tenant, usablePart } from './priorities.js';

/** Later than every deadline of a request. */
const LONGEST_WORK_MS = 5_000;
/** A thousand refusals in one turn of the event loop would take half a second, and every other client would wait for it. */
const BURST = 64;
const BEGUN_PER_TURN = 16;
/** A log line for each refusal would cost more than the refusal. */
const REPORT_MS = 1_000;
/** More than any other request: one's quota can be read, and unknown keys become known. */
const PART_OF_FIRST = 1.25;
const HEALTH = /^\/(?:healthz|readyz|\.well-known\/acme-challenge\/.*)(?:\?|$)/;
const STANDING = /^\/v1\/rate_limit(?:\?|$)/;
const GRAPHQL = /^\/graphql(?:[/?]|$)/;
const GRAPHQL_TYPE = 'application/graphql-response+json';
/** Jittered, so that the refused clients do not return all at once. */
const REFUSALS = [1, 2, 3].map((retryAfterSeconds) => {
  const message = 'The gateway has too many requests at the moment. Try again after the time in Retry-After.';
  return new AppError('unavailable', message, { retryAfterSeconds });
});

/** The plan of a refused request; `unknown` = without a key, or with a key that this process does not remember. */
export type ShedPlan = Plan | 'unknown';
export const SHED_PLANS: readonly ShedPlan[] = [...PLAN_NAMES, 'unknown'];

interface ShedderOptions {
  /** The project of the request's key, from memory only; null = this process does not know it. */
  tenantOf: (request: IncomingMessage) => Tenant | null;
  queuedStatements: () => number;
  graphqlBody: (error: AppError) => string;
  /** Headers that let this origin read the answer. */
  originHeaders: (origin: string | undefined) => Record<string, string>;
  /** Tells that requests were refused: at most once a second, and at the end of an overload with `limit` null. */
  onShed: (shed: Partial<Record<ShedPlan, number>>, limit: number | null) => void;
  /** Whether a connection may carry requests of many clients. */
  hasProxies: boolean;
}

interface Arrival {
  handler: RequestListener;
  request: IncomingMessage;
  response: ServerResponse;
  /** As `performance.now()`. */
  atMs: number;
}

/** A request of an overload or a burst, which is decided at the end of its turn of the event loop. */
interface Candidate extends Arrival {
  project: ActiveProject;
  /** Its number among the requests of its project. */
  number: number;
  usablePart: number;
}

/**
 * Refuses requests while the process is overloaded, before anything is parsed, looked up or charged. Without an overload
 * it counts, and spreads a burst over several turns of the event loop. During an overload the requests of one turn are
 * collected, and the most important ones are admitted. D-151.
 */
export class Shedder {
  private readonly limit = new ConcurrencyLimit();
  private readonly watch = new LoadWatch(
    this.limit,
    () => this.options.queuedStatements() + this.candidates.length,
    (nowMs) => this.endWindow(nowMs),
  );
  private readonly resting = new RestingConnections(() => this.limit.refusalsPerMs);
  private readonly projects = new ActiveProjects();
  private inFlight = 0;
  /** Without health checks and requests from before the overload: no neighbour of the flood waits for these. */
  private limited = 0;
  /** Requests that arrived in this turn, and fewer than `BEGUN_PER_TURN` of those before it. */
  private arrived = 0;
  private candidates: Candidate[] = [];
  /** In the current window. */
  private refused = 0;
  private unreported: Partial<Record<ShedPlan, number>> = {};
  private reportedAtMs = Number.NEGATIVE_INFINITY;
  private isReported = false;

  constructor(private readonly options: ShedderOptions) {}

  /** The handler behind the limit. */
  guard(handler: RequestListener): RequestListener {
    return (request, response) => {
      const arrival = { handler, request, response, atMs: this.watch.wake() };
      // Every 16th request asks for the end of its turn; for every request that would cost more than it is worth.
      this.arrived += 1;
      if (this.arrived === BEGUN_PER_TURN)
        setImmediate(() => {
          this.arrived = 0;
        });
      const isBurst = this.arrived > BURST || this.candidates.length > 0;
      if ((isBurst || this.limit.isEnforced) && !HEALTH.test(request.url ?? '')) this.collect(arrival);
      else this.begin(arrival, null);
    };
  }

  stop(): void {
    this.watch.stop();
    this.resting.stop();
  }

  private collect(arrival: Arrival): void {
    if (this.candidates.length === 0) setImmediate(this.decide);
    const project = this.projects.of(this.options.tenantOf(arrival.request));
    this.candidates.push({ ...arrival, project, number: 0, usablePart: 1 });
  }

  private readonly decide = () => {
    const { isEnforced, value } = this.limit;
    for (const candidate of this.candidates) this.rank(candidate);
    this.candidates.sort((a, b) => b.usablePart - a.usablePart || a.number - b.number);
    for (const { project } of this.candidates) project.queued = 0;
    const decided = this.candidates.splice(0, isEnforced ? this.candidates.length : BEGUN_PER_TURN);
    if (this.candidates.length > 0) setImmediate(this.decide);
    for (const candidate of decided) {
      // The client may have disconnected.
      if (candidate.request.socket.destroyed) continue;
      if (this.limited < value * candidate.usablePart)
        this.begin(candidate, isEnforced ? candidate.project : null);
      else this.refuse(candidate);
    }
  };

  /** Before an overload plans are equal, and projects alternate. */
  private rank(candidate: Candidate): void {
    const { project, request } = candidate;
    candidate.number = project.inFlight + project.queued;
    project.queued += 1;
    project.isSeen = true;
    if (!this.limit.isEnforced) return;
    const isWithinFairShare = candidate.number < this.projects.fairShare(project, this.limit.value);
    const url = request.url ?? '';
    const isFirst = project.plan === null ? isWithinFairShare : STANDING.test(url);
    const ofPlan = usablePart(project.plan, GRAPHQL.test(url), isWithinFairShare);
    candidate.usablePart = isFirst ? PART_OF_FIRST : ofPlan;
  }

  /** `project` is null for a request that the limit does not count. */
  private begin({ handler, request, response, atMs }: Arrival, project: ActiveProject | null): void {
    this.count(project, 1);
    const leave = () => this.count(project, -1);
    onWorkDone(request, response, (isLive) => {
      // A stream is idle most of the time.
      if (isLive) return leave();
      if (!response.writableEnded) {
        // The client has disconnected; its request keeps its place as long as it causes work.
        const patience = sleep(LONGEST_WORK_MS, undefined, { ref: false });
        return void Promise.race([once(response, 'prefinish'), patience]).then(leave, leave);
      }
      leave();
      const { statusCode } = response;
      // A full queue refuses at once: that is no fast answer.
      if (statusCode !== 503) this.limit.noteAnswer(atMs, performance.now());
      if ((statusCode === 429 || statusCode === 503) && hasLargeBody(request)) this.rest(request);
    });
    handler(request, response);
  }

  private count(project: ActiveProject | null, change: 1 | -1): void {
    this.inFlight += change;
    if (!project) return;
    this.limited += change;
    project.inFlight += change;
  }

  private refuse({ request, response, project }: Candidate): void {
    const plan = project.plan ?? 'unknown';
    this.unreported[plan] = (this.unreported[plan] ?? 0) + 1;
    this.refused += 1;
    const error = REFUSALS[Math.floor(Math.random() * REFUSALS.length)] as AppError;
    const isGraphQL = GRAPHQL.test(request.url ?? '');
    const type = isGraphQL && request.headers.accept?.includes(GRAPHQL_TYPE) ? GRAPHQL_TYPE : undefined;
    const { head, body } = unhookedError(
      error,
      isGraphQL ? this.options.graphqlBody(error) : undefined,
      type,
    );
    response.writeHead(503, { ...head, ...this.options.originHeaders(request.headers.origin) }).end(body);
    this.rest(request);
  }

  private rest(request: IncomingMessage): void {
    if (this.options.hasProxies) return;
    this.resting.rest(this.options.tenantOf(request)?.projectId ?? null, request.socket);
  }

  /** Returns what happened in the window. */
  private endWindow(nowMs: number): { inFlight: number; refused: number } {
    this.projects.endWindow();
    const { isEnforced, value } = this.limit;
    const isDue = isEnforced && this.refused > 0 && nowMs - this.reportedAtMs >= REPORT_MS;
    const hasEnded = this.isReported && !isEnforced;
    if (isDue || hasEnded) {
      this.options.onShed(this.unreported, hasEnded ? null : value);
      this.unreported = {};
      this.reportedAtMs = nowMs;
      this.isReported = isEnforced;
    }
    const refused = this.refused;
    this.refused = 0;
    return { inFlight: this.inFlight + this.candidates.length, refused };
  }
}
