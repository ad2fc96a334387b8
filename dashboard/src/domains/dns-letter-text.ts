import type { DomainDetailFragment } from '../graphql/generated.js';

type Described = Pick<DomainDetailFragment, 'hostname' | 'instructions' | 'diagnoses'>;

/** What whoever runs the DNS needs to know, without knowing this dashboard. */
export function dnsLetterText({ hostname, instructions, diagnoses }: Described): string {
  const many = instructions.length > 1;
  const records = instructions.map(({ type, name, value, ttl }) =>
    [
      `  Type:  ${type === 'ALIAS' ? 'ALIAS (also called ANAME, or flattened CNAME)' : type}`,
      `  Name:  ${name}`,
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
    `${hostname} shall lead to our web service. Please create ${many ? 'these DNS records' : 'this DNS record'}:`,
    records.join('\n\n'),
    ...(findings.length > 0 ? [`The last check found:\n${findings.join('\n')}`] : []),
    'There must be no other A, AAAA or CNAME record at that name. The certificate is made by itself afterwards.',
    'Thank you!',
  ].join('\n\n');
}
