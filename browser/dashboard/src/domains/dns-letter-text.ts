import type { DomainDetailFragment } from '../graphql/generated.js';

type Described = Pick<DomainDetailFragment, 'hostname' | 'instructions' | 'diagnoses'>;

/** A message for the administrator of the DNS, understandable without this dashboard. */
export function dnsLetterText({ hostname, instructions, diagnoses }: Described): string {
  const many = instructions.length > 1;
  const records = instructions.map(({ type, name, label, value, ttl }) =>
    [
      `  Type:  ${type === 'ALIAS' ? 'ALIAS (also called ANAME, or flattened CNAME)' : type}`,
      `  Name:  ${name}${label === '@' ? ' (many providers want @)' : ` (many providers want only ${label})`}`,
      `  Value: ${value}`,
      `  TTL:   ${ttl}`,
    ].join('\n'),
  );
  const open = diagnoses.filter(
    ({ actor, severity }) => severity !== 'INFO' && (actor === 'OWNER' || actor === 'DNS_PROVIDER'),
  );
  const findings = open.map(({ cause, remedy }) => `- ${cause} ${remedy}`);
  return [
    'Hello,',
    `${hostname} should point to our web service. Please create ${many ? 'these DNS records' : 'this DNS record'}:`,
    records.join('\n\n'),
    ...(findings.length > 0 ? [`The last check found:\n${findings.join('\n')}`] : []),
    'There must be no other A, AAAA or CNAME record at that name. The certificate is issued automatically afterwards.',
    'Thank you!',
  ].join('\n\n');
}
