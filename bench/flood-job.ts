import type { Counters } from './counters.js';
import type { RequestTemplate } from './load-job.js';

/** The input of the flood generator. */
export interface FloodJob {
  port: number;
  metricsUrl: string;
  /** Ends after `settleSeconds` and `seconds`. */
  flood: StreamJob;
  /** Continues for `calmSeconds` after the flood. */
  steady: StreamJob;
  /** The start of the flood, which is not counted. */
  settleSeconds: number;
  seconds: number;
  calmSeconds: number;
}

/** Requests at an even pace, on connections of their own. */
export interface StreamJob {
  request: RequestTemplate;
  requestsPerSecond: number;
  connections: number;
}

/** The output of the flood generator. */
export interface FloodResult {
  flood: StreamResult;
  steady: StreamResult;
  /** The work of the gateway in the counted time. */
  counters: Counters;
  /** From the end of the flood to the last steady request that was not answered within `LATE_MS`. */
  recoverySeconds: number;
}

/** Counts are per second. */
export interface StreamResult {
  answered: number;
  /** 503. */
  shed: number;
  /** Other statuses as 429, cut connections, and requests that found no free connection. */
  other: number;
  /** Of answers. Requests that a client sends before its Retry-After has passed do not count. */
  p50Ms: number;
  p99Ms: number;
}

export const LATE_MS = 250;
