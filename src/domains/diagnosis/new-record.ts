import type { Answer } from '../dns/dns-message.js';
import { shown } from './finding.js';
import type { Observation } from './observation.js';

type Wanted = Pick<Observation, 'hostname' | 'platformHost' | 'isApex'>;

/** The record that leads the name here, as text after "add". Spec: Custom domains 4, 5. */
export function newRecord({ hostname, platformHost, isApex }: Wanted): string {
  return isApex
    ? `one ALIAS or ANAME record: name ${hostname}, value ${platformHost}`
    : `a CNAME record: name ${hostname}, value ${platformHost}, TTL 3600`;
}

/** The owner of a DNAME record above the name, which its answers show; null = none. */
export function dnameAbove(replies: readonly Answer[], name: string): string | null {
  const dnames = replies.flatMap(({ records }) => records.filter(({ type }) => type === 'DNAME'));
  return dnames.find((record) => name.endsWith(`.${record.name}`))?.name ?? null;
}

/** No record can stand below a DNAME (RFC 6672 §2.4): some servers then refuse the whole zone. */
export function withoutDname(dname: string, wanted: Wanted): string {
  const owner = shown(dname);
  return `Remove the DNAME record of ${owner}, then add ${newRecord(wanted)}; or add a name here that is not below ${owner}.`;
}
