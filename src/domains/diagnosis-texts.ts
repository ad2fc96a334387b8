import type { Diagnosis, DiagnosisCode } from './diagnosis.js';

/** What the sentences are made of. A code uses what it needs. */
export interface Facts {
  hostname: string;
  platformHost: string;
  isApex: boolean;
  /** Null = not known. */
  zone: string | null;
  /** What is there instead: names or addresses in words, or the rcode. */
  seen: string;
  /** A name, server or record that the sentence is about. */
  about: string;
  /** What else must be said, as the end of a sentence; empty = nothing. */
  detail: string;
  /** A time in words; null = not known. */
  until: string | null;
}

interface Text extends Pick<Diagnosis, 'severity' | 'actor'> {
  /** Left out where it is the key. */
  code?: DiagnosisCode;
  cause: (facts: Facts) => string;
  remedy: (facts: Facts) => string;
}

const owner = { severity: 'ERROR', actor: 'OWNER' } as const;
const addCname = (to: Facts) => `a CNAME record: name ${to.hostname}, value ${to.platformHost}, TTL 3600`;
const addAlias = (to: Facts) => `one ALIAS or ANAME record: name ${to.hostname}, value ${to.platformHost}`;
const label = ({ hostname, zone }: Facts) =>
  zone && hostname !== zone && hostname.endsWith(`.${zone}`) ? hostname.slice(0, -zone.length - 1) : '@';

/** The sentences for what DNS can show, one place for all. Some codes have a second text for another cause. */
const DNS_TEXTS = {
  OWNERSHIP_TXT_MISSING: {
    ...owner,
    cause: ({ about, detail }) => `There is no TXT record at ${about}${detail}.`,
    remedy: ({ about, hostname, seen }) =>
      `Add exactly this TXT record: name ${about} (not ${hostname}), value ${seen}.`,
  },
  OWNERSHIP_TXT_MISMATCH: {
    ...owner,
    cause: ({ about, detail }) => `The TXT record at ${about} has another value${detail}.`,
    remedy: ({ seen }) => `Replace its value by ${seen}.`,
  },
  OWNERSHIP_CONTESTED: {
    ...owner,
    code: 'OWNERSHIP_TXT_MISMATCH',
    cause: ({ about, hostname }) =>
      `Another project asked for ${hostname}, and the TXT record at ${about} proves the name for that project.`,
    remedy: ({ about, seen }) =>
      `If the name is to be served by this project, replace the value of the TXT record at ${about} by ${seen}.`,
  },
  DNS_NO_RECORD: {
    ...owner,
    cause: ({ hostname, seen }) => `${hostname} ${seen}.`,
    remedy: (facts) => {
      const record = facts.isApex ? addAlias(facts) : addCname(facts);
      return facts.about === ''
        ? `Add ${record}.`
        : `Check that ${facts.about} is registered and has name servers, then add ${record}.`;
    },
  },
  NAME_DOUBLED: {
    ...owner,
    cause: ({ about, zone }) => `The record was created as ${about}, which has ${zone} twice.`,
    remedy: (facts) =>
      `Your DNS provider appends ${facts.zone} by itself: enter only ${label(facts)} as the name.`,
  },
  VALUE_DOUBLED: {
    ...owner,
    cause: ({ hostname, seen, zone }) =>
      `The CNAME of ${hostname} leads to ${seen}: your DNS provider has appended ${zone} to the value.`,
    remedy: ({ platformHost }) => `End the value with a dot: ${platformHost}.`,
  },
  CNAME_WRONG_VALUE: {
    ...owner,
    cause: ({ hostname, seen, platformHost }) =>
      `The CNAME of ${hostname} leads to ${seen}, not to ${platformHost}.`,
    remedy: ({ seen, platformHost }) => `Replace ${seen} by ${platformHost}.`,
  },
  CONFLICTING_RECORD: {
    ...owner,
    cause: ({ hostname, seen, about }) => `${hostname} has ${about} (${seen}), which block the CNAME.`,
    remedy: (facts) => `Delete these records, then add ${addCname(facts)}.`,
  },
  AAAA_FOREIGN: {
    ...owner,
    cause: ({ hostname, seen }) =>
      `${hostname} leads here by IPv4 but to ${seen} by IPv6, and certificate authorities prefer IPv6.`,
    remedy: ({ seen }) => `Delete the AAAA record with ${seen}.`,
  },
  ADDRESS_MIXED: {
    ...owner,
    cause: ({ hostname, seen, about }) => `${hostname} leads to ${seen} besides our ${about}.`,
    remedy: (facts) => `Keep ${addAlias(facts)}; delete the records with ${facts.seen}.`,
  },
  ADDRESS_ELSEWHERE: {
    ...owner,
    cause: ({ hostname, seen, platformHost, detail }) =>
      `${hostname} leads to ${seen}${detail}, not to ${platformHost}.`,
    remedy: (facts) => `Delete these A and AAAA records, then add ${addAlias(facts)}.`,
  },
  APEX_NEEDS_ALIAS: {
    ...owner,
    cause: ({ hostname, detail }) => `A zone begins at ${hostname}, so it can hold no CNAME${detail}.`,
    remedy: (facts) =>
      `Add ${addAlias(facts)}; if your DNS provider has none, add www.${facts.hostname} here and redirect ${facts.hostname} to it.`,
  },
  FLATTENED: {
    severity: 'INFO',
    actor: 'NOBODY',
    cause: ({ hostname }) => `The CNAME of ${hostname} can't be seen, and its addresses are ours.`,
    remedy: ({ platformHost }) =>
      `Nothing, if your DNS provider hides the CNAME to ${platformHost}; fixed addresses stop working when ours change.`,
  },
  PROXIED: {
    ...owner,
    cause: ({ hostname, seen }) =>
      `${hostname} leads to ${seen}, a proxy of Cloudflare that hides where it leads.`,
    remedy: (facts) =>
      `Switch the record of ${facts.hostname} to "DNS only", and let it lead to ${facts.platformHost}.`,
  },
  CNAME_LOOP: {
    ...owner,
    cause: ({ hostname, seen }) => `The CNAMEs of ${hostname} lead in a circle: ${seen}.`,
    remedy: ({ hostname, platformHost }) => `Let the CNAME of ${hostname} lead straight to ${platformHost}.`,
  },
  TARGET_GONE: {
    ...owner,
    cause: ({ hostname, seen }) => `The CNAMEs of ${hostname} end at ${seen}, which does not exist.`,
    remedy: ({ hostname, platformHost }) => `Let the CNAME of ${hostname} lead straight to ${platformHost}.`,
  },
  NOT_PROPAGATED: {
    severity: 'ERROR',
    actor: 'NOBODY',
    cause: ({ about, seen }) => `${about} still give an old answer: ${seen}.`,
    remedy: ({ until }) =>
      `Wait${until ? ` until ${until}` : ''}; if it stays so, ask your DNS provider why the name servers differ.`,
  },
  NAMESERVER_FAILING: {
    severity: 'ERROR',
    actor: 'DNS_PROVIDER',
    cause: ({ about, seen }) => `${about} ${seen}.`,
    remedy: () =>
      'Ask your DNS provider to repair it; if the name servers at your registrar are not those of your provider, correct them there.',
  },
  DELEGATION_DIFFERS: {
    code: 'NAMESERVER_FAILING',
    severity: 'WARNING',
    actor: 'OWNER',
    cause: ({ about, seen, zone, detail }) =>
      `${about} as name servers of ${zone}, and the zone itself names ${seen}${detail}.`,
    remedy: ({ seen }) =>
      `Enter the name servers of your DNS provider at your registrar, and the same in the zone: ${seen}, if these are right.`,
  },
  DNSSEC_BROKEN: {
    ...owner,
    cause: ({ zone, hostname, detail }) =>
      `The answers for ${zone ?? hostname} fail DNSSEC validation${detail}.`,
    remedy: ({ zone, hostname }) =>
      `Correct or remove the DS record of ${zone ?? hostname} at your registrar.`,
  },
  DNS_UNREACHABLE: {
    severity: 'ERROR',
    actor: 'NOBODY',
    cause: ({ about, seen }) =>
      `DNS could not be asked for ${about} (${seen}), which says nothing about your records.`,
    remedy: ({ until }) => `Nothing: we ask again at ${until}.`,
  },
  WILDCARD_DNS: {
    severity: 'WARNING',
    actor: 'OWNER',
    cause: ({ about }) => `Any name below ${about} leads here, also those that you have not added.`,
    remedy: ({ about }) => `Replace the record *.${about} by records with names.`,
  },
  CACHES_ARE_OLD: {
    code: 'NOT_PROPAGATED',
    severity: 'INFO',
    actor: 'NOBODY',
    cause: ({ about, seen }) => `${about}, but caches still give an old answer: ${seen}.`,
    remedy: ({ until }) => `Nothing: caches have the new answer${until ? ` by ${until}` : ' soon'}.`,
  },
  PLATFORM_GONE: {
    code: 'TARGET_GONE',
    severity: 'WARNING',
    actor: 'PLATFORM',
    cause: ({ platformHost }) => `${platformHost} itself has no addresses, which is our fault and not yours.`,
    remedy: () => 'Nothing: we must repair it.',
  },
  PLATFORM_FAILING: {
    code: 'NAMESERVER_FAILING',
    severity: 'ERROR',
    actor: 'PLATFORM',
    cause: ({ platformHost, seen }) =>
      `${platformHost} itself can't be resolved (${seen}), which is our fault.`,
    remedy: () => 'Nothing: we must repair it.',
  },
} satisfies Partial<Record<DiagnosisCode, Text>> & Record<string, Text>;

export type TextName = keyof typeof DNS_TEXTS;

export function textOf(name: TextName): Text & { code: DiagnosisCode } {
  const text: Text = DNS_TEXTS[name];
  return { ...text, code: text.code ?? (name as DiagnosisCode) };
}
