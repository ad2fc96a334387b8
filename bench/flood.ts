import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type Counters, countersOf, increase } from './counters.js';
import { type FloodJob, type FloodResult, LATE_MS, type StreamJob, type StreamResult } from './flood-job.js';
import { FloodStream, type Outcome } from './flood-stream.js';
import { summary } from './load-job.js';

const ACCEPT_MS = 500;

interface Stream {
  sender: FloodStream;
  outcomes: Outcome[];
  /** Found no free connection in the counted time. */
  unsent: number;
}

/** Sends a flood and a steady stream beside it: a separate program, so that it can be pinned. */
const job = JSON.parse(await text(process.stdin)) as FloodJob;
console.log(JSON.stringify(await run(job)));
// Without this Node would wait for the connections.
process.exit();

async function run(job: FloodJob): Promise<FloodResult> {
  const { port, metricsUrl, settleSeconds, seconds, calmSeconds } = job;
  const flood = streamOf(port, job.flood);
  const steady = streamOf(port, job.steady);
  // Node accepts one connection in each turn of the event loop, so in a flood new ones would wait for seconds.
  await Promise.all([flood.sender.open(), steady.sender.open()]);
  await pause(ACCEPT_MS);
  const beganAtMs = performance.now();
  const countsFromMs = beganAtMs + settleSeconds * 1000;
  const floodEndsAtMs = countsFromMs + seconds * 1000;
  const endsAtMs = floodEndsAtMs + calmSeconds * 1000;
  let before: Promise<Counters> | null = null;
  let after: Promise<Counters> | null = null;
  for (let nowMs = beganAtMs; nowMs < endsAtMs; nowMs = performance.now()) {
    const isFlooding = nowMs < floodEndsAtMs;
    const isCounted = isFlooding && nowMs >= countsFromMs;
    if (isCounted) before ??= countersOf(metricsUrl);
    if (!isFlooding) {
      after ??= countersOf(metricsUrl);
      flood.sender.stop();
    }
    for (const stream of isFlooding ? [flood, steady] : [steady]) {
      const unsent = stream.sender.sendDue(nowMs);
      if (isCounted) stream.unsent += unsent;
    }
    await pause(1);
  }
  steady.sender.stop();
  const isCounted = ({ sentAtMs }: Outcome) => sentAtMs >= countsFromMs && sentAtMs < floodEndsAtMs;
  return {
    flood: resultOf(flood.outcomes.filter(isCounted), flood.unsent, seconds),
    steady: resultOf(steady.outcomes.filter(isCounted), steady.unsent, seconds),
    counters: increase(...((await Promise.all([before, after])) as [Counters, Counters])),
    recoverySeconds: recoveryOf(steady.outcomes, floodEndsAtMs),
  };
}

function streamOf(port: number, job: StreamJob): Stream {
  const outcomes: Outcome[] = [];
  return { sender: new FloodStream(port, job, (outcome) => outcomes.push(outcome)), outcomes, unsent: 0 };
}

function resultOf(outcomes: readonly Outcome[], unsent: number, seconds: number): StreamResult {
  const answers = outcomes.filter(({ status }) => status === 200);
  const shed = outcomes.filter(({ status }) => status === 503).length;
  const obedient = answers.filter(({ hasObeyed }) => hasObeyed);
  const { p50Ms, p99Ms } = summary(obedient.map(latencyMsOf), seconds);
  return {
    answered: answers.length / seconds,
    shed: shed / seconds,
    other: (outcomes.length - answers.length - shed + unsent) / seconds,
    p50Ms,
    p99Ms,
  };
}

function recoveryOf(outcomes: readonly Outcome[], floodEndedAtMs: number): number {
  const late = outcomes.filter(
    (outcome) =>
      outcome.sentAtMs >= floodEndedAtMs && (outcome.status !== 200 || latencyMsOf(outcome) > LATE_MS),
  );
  return Math.max(0, ...late.map(({ sentAtMs }) => sentAtMs - floodEndedAtMs)) / 1000;
}

function latencyMsOf({ sentAtMs, endedAtMs }: Outcome): number {
  return endedAtMs - sentAtMs;
}
