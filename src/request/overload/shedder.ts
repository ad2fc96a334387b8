import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { LoadWatch } from './load-watch.js';
import { type ActiveProject, ActiveProjects, type Tenant, usablePart } from './priorities.js';
import { type ErrorForms, Refusal } from './refusal.js';
import { RestingConnections } from './resting-connections.js';
import { type OnShed, ShedCounts } from './shed-counts.js';

/** Admitted by a part of the limit that only requests of unknown keys may use, so that a key becomes known. */
const PART_FOR_STRANGERS = 1 / 16;
/** More than any other request: reading one's quota is refused last. */
const PART_FOR_STANDING = 1.25;
/** Later than every deadline of a request. */
const LONGEST_WORK_MS = 5_000;
const LARGE_BODY_BYTES = 8_192;
/** A thousand refusals in one turn of the event loop would take half a second, and every other client would wait for it. */
const BURST = 64;
const BEGUN_PER_TURN = 16;
const HEALTH = /^\/(?:healthz|readyz|\.well-known\/acme-challenge\/.*)(?:\?|$)/;
const STANDING = /^\/v1\/rate_limit(?:\?|$)/;
const GRAPHQL = /^\/graphql(?:[/?]|$)/;

interface Surroundings {
  /** The project of the request's key, from memory only; null = this process does not know it. */
  tenantOf: (request: IncomingMessage) => Tenant | null;
  queuedStatements: () => number;
  forms: ErrorForms;
  onShed: OnShed;
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

/** During an overload. */
interface Waiting extends Arrival {
  tenant: Tenant | null;
  project: ActiveProject | null;
  isGraphQL: boolean;
  usablePart: number;
  /** Its number among the requests of its project. */
  number: number;
}

/**
 * Refuses requests while the process is overloaded, before anything is parsed, looked up or charged. Without an overload
 * it counts, and spreads a burst over several turns of the event loop. During an overload the requests of one turn are
 * collected, and the most important ones are admitted. D-151.
 */
export class Shedder {
  private readonly limit = new ConcurrencyLimit();
  private readonly watch: LoadWatch;
  private readonly refusal: Refusal;
  private readonly resting = new RestingConnections(() => this.limit.refusalsPerMs);
  private readonly projects = new ActiveProjects();
  private readonly counts: ShedCounts;
  /** Requests in flight that the limit has admitted. */
  private inFlight = 0;
  /** Health checks, and requests from before the overload: no neighbour of the flood waits for these. */
  private unlimited = 0;
  private strangersInFlight = 0;
  private turn: Waiting[] = [];
  /** The rest of a burst. */
  private readonly turns = new EventLoopTurns(BEGUN_PER_TURN);
  /** Requests that arrived in this turn, and fewer than `BEGUN_PER_TURN` of those before it. */
  private arrived = 0;
  /** Of the current turn. */
  private refused: Waiting[] = [];

  constructor(private readonly around: Surroundings) {
    const { queuedStatements, forms, onShed } = around;
    this.refusal = new Refusal(forms, Math.random);
    this.counts = new ShedCounts(onShed);
    const queuedWork = () => queuedStatements() + this.turns.waiting;
    const takeCounts = () => ({
      inFlight: this.inFlight + this.unlimited + this.turns.waiting,
      refused: this.counts.takeWindow(),
    });
    this.watch = new LoadWatch(this.limit, queuedWork, takeCounts, this.endWindow);
  }

  /** The handler behind the limit. */
  guard(handler: RequestListener): RequestListener {
    return (request, response) => {
      const arrival = { handler, request, response, atMs: this.watch.wake() };
      const isBurst = this.isBurst();
      if (!isBurst && !this.limit.isEnforced) this.begin(arrival, null);
      else if (HEALTH.test(request.url ?? '')) this.begin(arrival, null);
      else if (this.limit.isEnforced) this.collect(arrival);
      else void this.beginInTurn(arrival);
    };
  }

  stop(): void {
    this.watch.stop();
    this.resting.stop();
  }

  /** Every 16th request asks for the end of its turn; for every request that would cost more than it is worth. */
  private isBurst(): boolean {
    this.arrived += 1;
    if (this.arrived === BEGUN_PER_TURN) setImmediate(this.endBurst);
    return this.arrived > BURST || this.turns.waiting > 0;
  }

  private readonly endBurst = () => {
    this.arrived = 0;
  };

  private async beginInTurn(arrival: Arrival): Promise<void> {
    const { request } = arrival;
    await this.turns.next(this.around.tenantOf(request)?.projectId ?? null);
    // The client may have disconnected.
    if (!request.socket.destroyed) this.begin(arrival, null);
  }

  private collect(arrival: Arrival): void {
    const { request } = arrival;
    const tenant = this.around.tenantOf(request);
    const project = tenant && this.projects.of(tenant);
    const url = request.url ?? '';
    const isGraphQL = GRAPHQL.test(url);
    const number = project ? project.inFlight + project.queued : 0;
    const isWithinFairShare = project !== null && number < this.projects.fairShare(project, this.limit.value);
    const isStanding = tenant !== null && STANDING.test(url);
    const part = isStanding
      ? PART_FOR_STANDING
      : usablePart(tenant?.plan ?? null, isGraphQL, isWithinFairShare);
    if (project) {
      project.queued += 1;
      project.isSeen = true;
    }
    if (this.turn.length === 0) {
      setImmediate(this.endTurn);
      // Separately, because Node reads a connection again after its answer has left. But before the next turn reads the next
      // requests of refused clients.
      if (!this.around.hasProxies) setImmediate(this.restRefused);
    }
    this.turn.push({ ...arrival, tenant, project, isGraphQL, usablePart: part, number });
  }

  private readonly endTurn = () => {
    const turn = this.turn.sort((a, b) => b.usablePart - a.usablePart || a.number - b.number);
    this.turn = [];
    for (const waiting of turn) {
      const { request, project } = waiting;
      if (project) project.queued -= 1;
      // The client may have disconnected.
      if (request.socket.destroyed) continue;
      if (this.mayBegin(waiting)) this.begin(waiting, waiting);
      else this.refused.push(waiting);
    }
    for (const waiting of this.refused) this.refuse(waiting);
    if (this.around.hasProxies) this.refused = [];
  };

  private readonly restRefused = () => {
    for (const { request, tenant } of this.refused)
      this.resting.rest(tenant?.projectId ?? null, request.socket);
    this.refused = [];
  };

  private mayBegin({ tenant, usablePart }: Waiting): boolean {
    const limit = this.limit.value;
    if (this.inFlight < limit * usablePart) return true;
    return tenant === null && this.strangersInFlight < limit * PART_FOR_STRANGERS;
  }

  /** `waiting` is null for a request that the limit does not count. */
  private begin({ handler, request, response, atMs }: Arrival, waiting: Waiting | null): void {
    this.count(waiting, 1);
    response.on('close', () => {
      if (!response.writableEnded) return atEndOfWork(response, () => this.count(waiting, -1));
      this.count(waiting, -1);
      if (!this.around.hasProxies && isRefusedBody(request, response)) {
        const rest = () =>
          this.resting.rest(this.around.tenantOf(request)?.projectId ?? null, request.socket);
        // For a body that nothing has read, Node reads the connection again in this turn, and then discards the body.
        if (request.readableEnded) rest();
        else setImmediate(rest);
      }
      // A full queue refuses at once: that is no fast answer.
      if (response.statusCode !== 503) this.limit.noteAnswer(atMs, performance.now());
    });
    handler(request, response);
  }

  private count(waiting: Waiting | null, change: 1 | -1): void {
    if (waiting === null) {
      this.unlimited += change;
      return;
    }
    this.inFlight += change;
    if (waiting.project) waiting.project.inFlight += change;
    else this.strangersInFlight += change;
  }

  private refuse({ request, response, tenant, isGraphQL }: Waiting): void {
    this.counts.add(tenant?.plan ?? null);
    this.refusal.write(request, response, isGraphQL);
  }

  private readonly endWindow = (nowMs: number) => {
    this.projects.endWindow();
    this.counts.report(nowMs, this.limit.value);
  };
}

/** A large body was refused: to receive the next one costs more than to refuse it. */
function isRefusedBody({ headers }: IncomingMessage, { statusCode }: ServerResponse): boolean {
  if (statusCode !== 429 && statusCode !== 503) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > LARGE_BODY_BYTES;
}

/** The client has disconnected; its request keeps its place as long as it causes work. */
function atEndOfWork(response: ServerResponse, end: () => void): void {
  const endOnce = () => {
    clearTimeout(timer);
    response.off('prefinish', endOnce);
    end();
  };
  const timer = setTimeout(endOnce, LONGEST_WORK_MS).unref();
  response.once('prefinish', endOnce);
}
