import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type FloodJob, type FloodResult, LATE_MS, type StreamResult } from './flood-job.js';
import { FloodStream, type Outcome } from './flood-stream.js';
import { summary } from './load-job.js';

/** Sends a flood and a steady stream beside it: a separate program, so that it can be pinned. */
const job = JSON.parse(await text(process.stdin)) as FloodJob;
console.log(JSON.stringify(await run(job)));
// Without this Node would wait for the connections.
process.exit();

async function run({
  port,
  flood,
  steady,
  settleSeconds,
  seconds,
  calmSeconds,
}: FloodJob): Promise<FloodResult> {
  const ofFlood: Outcome[] = [];
  const ofSteady: Outcome[] = [];
  const flooding = new FloodStream(port, flood, (outcome) => ofFlood.push(outcome));
  const steadying = new FloodStream(port, steady, (outcome) => ofSteady.push(outcome));
  const beganAtMs = performance.now();
  const countsFromMs = beganAtMs + settleSeconds * 1000;
  const floodEndsAtMs = countsFromMs + seconds * 1000;
  const endsAtMs = floodEndsAtMs + calmSeconds * 1000;
  for (let nowMs = beganAtMs; nowMs < endsAtMs; nowMs = performance.now()) {
    if (nowMs < floodEndsAtMs) flooding.sendDue(nowMs);
    else flooding.stop();
    steadying.sendDue(nowMs);
    await pause(1);
  }
  steadying.stop();
  const counted = (outcomes: Outcome[]) =>
    outcomes.filter(({ dueAtMs }) => dueAtMs >= countsFromMs && dueAtMs < floodEndsAtMs);
  return {
    flood: resultOf(counted(ofFlood), seconds),
    steady: resultOf(counted(ofSteady), seconds),
    recoverySeconds: recoveryOf(ofSteady, floodEndsAtMs),
  };
}

function resultOf(outcomes: readonly Outcome[], seconds: number): StreamResult {
  const answers = outcomes.filter(({ status }) => status === 200);
  const shed = outcomes.filter(({ status }) => status === 503).length;
  const obedient = answers.filter(({ hasObeyed }) => hasObeyed);
  const { p50Ms, p99Ms } = summary(obedient.map(latencyMsOf), seconds);
  return {
    answered: answers.length / seconds,
    shed: shed / seconds,
    lost: (outcomes.length - answers.length - shed) / seconds,
    p50Ms,
    p99Ms,
  };
}

function recoveryOf(outcomes: readonly Outcome[], floodEndedAtMs: number): number {
  const bad = outcomes.filter(
    (outcome) =>
      outcome.dueAtMs >= floodEndedAtMs && (outcome.status !== 200 || latencyMsOf(outcome) > LATE_MS),
  );
  return Math.max(0, ...bad.map(({ dueAtMs }) => dueAtMs - floodEndedAtMs)) / 1000;
}

function latencyMsOf({ sentAtMs, endedAtMs }: Outcome): number {
  return endedAtMs - sentAtMs;
}
