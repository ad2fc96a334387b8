import type { Answer } from '../../dns/dns-message.js';
import { DnsUnreachable } from '../../dns/dns-unreachable.js';
import { type Diagnosis, MAX_EVIDENCE } from './diagnosis.js';
import { type Facts, type TextName, textOf } from './diagnosis-texts.js';
import { evidenceOf, type Reply, ttlSecondsOf } from './evidence.js';
import type { Observation } from './observation.js';

/** A diagnosis without its texts. Omitted fields come from the observation and from the table of texts. */
export interface Finding {
  text: TextName;
  facts?: Partial<Facts>;
  evidence: readonly Reply[];
  severity?: Diagnosis['severity'];
  retryAtMs?: number | null;
}

export function diagnosisOf(
  { text, facts, evidence, severity, retryAtMs }: Finding,
  seen: Observation,
): Diagnosis {
  const words = textOf(text);
  const all: Facts = {
    hostname: seen.hostname,
    platformHost: seen.platformHost,
    isApex: seen.isApex,
    zone: seen.zone,
    seen: '',
    about: '',
    detail: '',
    until: retryAtMs ? timeInWords(retryAtMs, seen.atMs) : null,
    ...facts,
  };
  return {
    code: words.code,
    severity: severity ?? words.severity,
    actor: words.actor,
    cause: words.cause(all),
    remedy: words.remedy(all),
    retryAtMs: retryAtMs ?? null,
    evidence: evidence.slice(0, MAX_EVIDENCE).map(evidenceOf),
  };
}

/** When these answers have expired from caches; null = unknown. */
export function forgottenAtMs(replies: readonly Reply[], atMs: number): number | null {
  const answers = replies.filter((reply): reply is Answer => !(reply instanceof DnsUnreachable));
  const ttls = answers.map(ttlSecondsOf).filter((ttl) => ttl !== null);
  return ttls.length === 0 ? null : atMs + Math.max(...ttls) * 1000;
}

/** `14:32 UTC`, with the date when it is another day. */
function timeInWords(timeMs: number, nowMs: number): string {
  // Rounded up, so that the text never names an earlier time.
  const [day = '', time = ''] = new Date(Math.ceil(timeMs / 60_000) * 60_000).toISOString().split('T');
  const isToday = new Date(nowMs).toISOString().startsWith(day);
  return `${isToday ? '' : `${day} `}${time.slice(0, 5)} UTC`;
}
