import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../eventually.js';
import type { FaultyGateway, Tenant } from './faulty-gateway.js';
import { type Attempt, type Outcome, TOY_WRITES, type Write } from './writes.js';

/** A fault at one place of a write; the places are tried one after the other, until a write passes none. */
export interface Fault {
  /** Whether a write that the fault has stopped is never done, also not later. */
  readonly isNeverDone: boolean;
  /** The gateway repeats the write, so that clients notice nothing. */
  readonly isRepeated?: boolean;
  /** The fault waits at this place, from 1 on. */
  arm(gateway: FaultyGateway, place: number): Promise<void>;
  /** Ends the fault, and resolves once the gateway serves again. Returns whether something met it. */
  lift(gateway: FaultyGateway, outcomes: readonly Outcome[]): Promise<boolean>;
}

export interface Circumstances {
  readonly isLogged: boolean;
  readonly hasKey: boolean;
}

/** A write under a fault, and what must be true of it from now on. */
interface Trial {
  readonly what: string;
  readonly attempt: Attempt;
  readonly expected: number;
  readonly isOwn: boolean;
}

/** With the change log, some of them share a transaction: they arrive while the first one runs. */
const LOGGED_TOGETHER = 6;
const MOST_PLACES = 120;
/** Longer than the key of a request whose outcome is unknown stays locked. */
const LOCK_MS = 11_000;
/** In this time a statement that was under way has ended. */
const SETTLING_MS = 300;

/**
 * Lets each statement of a write meet the fault, while a neighbour's write runs beside it. Returns what is wrong: an
 * acknowledged write that is not stored exactly once, a refused one that is, now or after all of them.
 */
export async function sweep(
  gateway: FaultyGateway,
  write: Write,
  fault: Fault,
  { isLogged, hasKey }: Circumstances,
): Promise<string[]> {
  const [tenant, neighbour] = [await gateway.tenant({ isLogged }), await gateway.tenant({ isLogged })];
  const [NEIGHBOURS] = TOY_WRITES as [Write, ...Write[]];
  const findings: string[] = [];
  const trials: Trial[] = [];
  const control = await (await write.begin(gateway, tenant)).send({});
  if (control.kind !== 'done') findings.push(`without a fault: ${control.kind} ${control.reason}`);
  const acts = await actsOf(gateway, tenant, write);
  const together = isLogged ? LOGGED_TOGETHER : 1;
  let places = 0;
  for (let isMet = true; isMet && places < MOST_PLACES; ) {
    places += 1;
    const attempts = [await NEIGHBOURS.begin(gateway, neighbour)];
    for (let own = 0; own < together; own += 1) attempts.push(await write.begin(gateway, tenant));
    await fault.arm(gateway, places);
    const sent = attempts.map((attempt) => attempt.send(hasKey ? keyOf(attempt) : {}));
    const outcomes = await Promise.all(sent);
    isMet = await fault.lift(gateway, outcomes);
    for (const [at, attempt] of attempts.entries()) {
      const isOwn = at > 0;
      const what = `${isOwn ? write.name : 'the neighbour'} at ${places}`;
      const trial = await judged(gateway, what, attempt, outcomes[at] as Outcome, fault, hasKey, findings);
      trials.push({ ...trial, isOwn });
    }
  }
  if (places === MOST_PLACES) findings.push(`${write.name} meets the fault at ${places} places`);
  // A later write replaces the effect of some.
  const lasting = trials.filter(({ isOwn }) => !isOwn || !write.isReplaced);
  for (const { what, attempt, expected } of lasting) {
    const stored = await attempt.stored();
    if (stored !== expected) findings.push(`${what}: stored ${stored} times in the end, ${expected} before`);
  }
  const own = trials.filter(({ isOwn }) => isOwn);
  const effects = own.reduce((sum, { expected }) => sum + expected, 0);
  const audited = (await actsOf(gateway, tenant, write)) - acts;
  if (write.act && audited !== effects) findings.push(`${write.act}: ${audited} acts of ${effects} effects`);
  if (isLogged) findings.push(...(await logProblems(gateway, tenant)));
  return findings;
}

const keyOf = ({ name }: Attempt) => ({ 'idempotency-key': name.replaceAll(' ', '-') });

async function judged(
  gateway: FaultyGateway,
  what: string,
  attempt: Attempt,
  outcome: Outcome,
  fault: Fault,
  hasKey: boolean,
  findings: string[],
): Promise<Omit<Trial, 'isOwn'>> {
  if (fault.isRepeated && outcome.kind !== 'done')
    findings.push(`${what}: ${outcome.kind} ${outcome.reason}, and was not repeated`);
  let last = outcome;
  if (last.kind === 'unknown') await pause(SETTLING_MS);
  const first = await attempt.stored();
  const note = (problem: string) =>
    findings.push(
      `${what}: ${problem} (${outcome.kind} ${outcome.reason}; then ${last.kind} ${last.reason})`,
    );
  if (last.kind === 'unknown') {
    if (first !== 0 && first !== 1) note(`stored ${first} times, the outcome was unknown`);
    if (first !== 0 && fault.isNeverDone) note('stored, but it was refused before its COMMIT');
    if (!hasKey) return { what, attempt, expected: first };
    await gateway.passTime(LOCK_MS);
    last = await eventually(`the outcome of ${what}`, async () => {
      const next = await attempt.send(keyOf(attempt));
      return next.kind !== 'unknown' && next;
    });
  }
  const expected = last.kind === 'done' ? 1 : 0;
  const stored = await attempt.stored();
  if (stored !== expected) note(`stored ${stored} times instead of ${expected}`);
  return { what, attempt, expected: stored };
}

async function actsOf(gateway: FaultyGateway, { projectId }: Tenant, { act }: Write): Promise<number> {
  if (act === undefined) return 0;
  return gateway.count('audit_events WHERE project_id = ? AND action = ?', [projectId, act]);
}

/** The log must lead to the stored toys, change by change. */
async function logProblems(gateway: FaultyGateway, { projectId }: Tenant): Promise<string[]> {
  const changes = await gateway.query(
    'SELECT number, kind, record FROM changes WHERE project_id = ? ORDER BY number',
    [projectId],
  );
  const problems: string[] = [];
  const records = new Map<string, string>();
  for (const [at, { number, kind, record }] of changes.entries()) {
    if (Number(number) !== Number(changes[0]?.number) + at) problems.push(`change ${number} leaves a gap`);
    const { id, name } = JSON.parse(String(record));
    if ((kind === 'created') === records.has(id)) problems.push(`change ${number}: ${kind} ${id} twice`);
    if (kind === 'deleted') records.delete(id);
    else records.set(id, name);
  }
  const toys = await gateway.query('SELECT id, name FROM toys WHERE project_id = ?', [projectId]);
  const stored = new Map(toys.map(({ id, name }) => [String(id), String(name)]));
  for (const [id, name] of stored) {
    if (records.get(id) !== name)
      problems.push(`toy ${id} is stored as ${name}, logged as ${records.get(id)}`);
  }
  for (const id of records.keys()) if (!stored.has(id)) problems.push(`toy ${id} is only in the log`);
  return problems;
}
