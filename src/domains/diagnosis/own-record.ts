import type { Answer } from '../dns/dns-message.js';
import type { Diagnosis } from './diagnosis.js';
import { finding, shown } from './finding.js';
import { leadsTo } from './judge.js';
import { dnameAbove, newRecord, withoutDname } from './new-record.js';
import type { Observation } from './observation.js';

interface Lacking {
  /** The step before the TXT record, as text after "First". */
  first: string;
  finding: Diagnosis;
}

/**
 * For a name that exists only by a wildcard or a DNAME, while a TXT record below it is wanted: that record alone would end
 * the name. Null = it has its own record. D-249.
 */
export function lackingOwnRecord(seen: Observation): Lacking | null {
  const { hostname, isApex, below, sibling, ownership, host, nameServers } = seen;
  if (ownership === null) return null;
  const record = newRecord(seen);
  const own = nameServers.flatMap(({ lookup, txt }) => [...lookup, ...(txt ? [txt] : [])]);
  const replies = [...host, ...own, ownership.txt];
  const dname = dnameAbove(replies, ownership.name);
  if (dname !== null) {
    const evidence = replies.filter(({ records }) => records.some(({ type }) => type === 'DNAME'));
    return {
      first: `remove the DNAME record of ${shown(dname)} and add ${record}`,
      finding: noRecord(evidence, {
        cause: `No record can stand at ${ownership.name}, because it is below the DNAME record of ${shown(dname)} (RFC 6672).`,
        remedy: withoutDname(dname, seen),
      }),
    };
  }
  // `*.X` never answers for X, and the apex always exists. Only a wildcard next to the name can stand in for its record.
  if (isApex || below === null || !leadsTo([below], seen) || !leadsTo(sibling, seen)) return null;
  return {
    first: `add ${record}`,
    finding: noRecord([below], {
      cause: `There is no record for ${hostname} itself. A wildcard record answers for it, and stops once there is a TXT record at ${ownership.name} (RFC 4592).`,
      remedy: `Add ${record}, before you add the TXT record.`,
    }),
  };
}

const noRecord = (evidence: readonly Answer[], words: { cause: string; remedy: string }) =>
  finding('DNS_NO_RECORD', evidence, { severity: 'WARNING', ...words });
