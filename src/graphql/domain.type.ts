import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import {
  DIAGNOSIS_CODES,
  type DiagnosisActor,
  type DiagnosisCode,
  type DiagnosisSeverity,
} from '../domains/diagnosis.js';
import { MAX_RECORDS_TO_CREATE } from '../domains/dns-records.js';
import { MAX_DOMAINS } from '../domains/domain-attachment.js';
import { MAX_REDIRECTS } from '../domains/domain-config.js';
import { DOMAIN_STATUSES, type DomainStatus } from '../domains/domain-status.js';
import { Entries } from './entries.js';
import { PLAIN } from './plain.js';

/**
 * Counted is what a domain usually has, so that one operation can ask for the findings of all domains with their evidence.
 * What there is at most, the stored bytes bound: 20 KB of each column, 8 KB of an event.
 */
const USUAL_DIAGNOSES = 3;
const USUAL_EVIDENCE = 1;

const enumOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, name]));
const describedBy = (texts: Record<string, string>) =>
  Object.fromEntries(Object.entries(texts).map(([name, description]) => [name, { description }]));

const SEVERITIES: Record<DiagnosisSeverity, string> = {
  ERROR: 'Keeps the domain from working.',
  WARNING: 'Will keep it from working, or from being renewed, unless somebody acts.',
  INFO: 'Good to know; nobody has to act.',
};

const ACTORS: Record<DiagnosisActor, string> = {
  OWNER: 'Whoever manages the DNS records of the domain.',
  DNS_PROVIDER: 'Whoever runs the name servers of the domain.',
  PLATFORM: 'Whoever runs this gateway.',
  CERTIFICATE_AUTHORITY: 'The certificate authority.',
  NOBODY: 'Nobody: it passes by itself.',
};

const DomainStatusEnum = enumOf(Object.keys(DOMAIN_STATUSES));
const DiagnosisCodeEnum = enumOf(Object.keys(DIAGNOSIS_CODES));
const SeverityEnum = enumOf(Object.keys(SEVERITIES));
const ActorEnum = enumOf(Object.keys(ACTORS));
const RecordTypeEnum = enumOf(['CNAME', 'ALIAS', 'TXT']);
const ActionEnum = enumOf(['SERVES', 'REDIRECTS']);

registerEnumType(DomainStatusEnum, {
  name: 'DomainStatus',
  description: 'How a domain stands.',
  valuesConfig: describedBy(DOMAIN_STATUSES),
});
registerEnumType(DiagnosisCodeEnum, {
  name: 'DiagnosisCode',
  description: 'What is wrong with a domain, for programs.',
  valuesConfig: describedBy(DIAGNOSIS_CODES),
});
registerEnumType(SeverityEnum, {
  name: 'DiagnosisSeverity',
  description: 'How much a finding matters.',
  valuesConfig: describedBy(SEVERITIES),
});
registerEnumType(ActorEnum, {
  name: 'DiagnosisActor',
  description: 'Who has to act.',
  valuesConfig: describedBy(ACTORS),
});
registerEnumType(RecordTypeEnum, {
  name: 'DnsRecordType',
  description: 'The type of a DNS record to create.',
  valuesConfig: {
    CNAME: { description: 'For a subdomain.' },
    ALIAS: { description: 'For an apex domain; some providers call it ANAME or flattened CNAME.' },
    TXT: { description: 'Proves that the domain is yours.' },
  },
});
registerEnumType(ActionEnum, {
  name: 'DomainAction',
  description: 'What a host does with requests.',
  valuesConfig: {
    SERVES: { description: 'Answers as the project.' },
    REDIRECTS: { description: 'Sends clients to another host, with path and query.' },
  },
});

@ObjectType('DnsRecord', { description: 'A DNS record for the owner to create.', ...PLAIN })
export class DnsRecordType {
  @Field(() => RecordTypeEnum, { description: 'Its type.' })
  type!: string;

  @Field(() => String, { description: 'Its full name, without a trailing dot.' })
  name!: string;

  @Field(() => String, { description: 'Its value.' })
  value!: string;

  @Field(() => Int, { description: 'Its time to live, in seconds.' })
  ttl!: number;
}

@ObjectType('Evidence', { description: 'What a server said.', ...PLAIN })
export class EvidenceType {
  @Field(() => String, {
    description: 'The server: an address and port, or a URL of the certificate authority.',
  })
  server!: string;

  @Field(() => String, { description: 'What it was asked.' })
  question!: string;

  @Field(() => String, { description: 'What it answered.' })
  answer!: string;

  @Field(() => Int, { nullable: true, description: 'How long caches may keep the answer, in seconds.' })
  ttl!: number | null;

  @Field(() => GraphQLDateTime, { description: 'When.' })
  at!: Date;
}

@ObjectType('Diagnosis', {
  description: 'One finding about a domain: what is the case, and what to do.',
  ...PLAIN,
})
export class DiagnosisType {
  @Field(() => DiagnosisCodeEnum, { description: 'The finding, for programs.' })
  code!: DiagnosisCode;

  @Field(() => SeverityEnum, { description: 'How much it matters.' })
  severity!: DiagnosisSeverity;

  @Field(() => ActorEnum, { description: 'Who has to act.' })
  actor!: DiagnosisActor;

  @Field(() => String, { description: 'What is the case, in one sentence.' })
  cause!: string;

  @Field(() => String, { description: 'What to do, in one sentence.' })
  remedy!: string;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'Trying again earlier is of no use; null = any time after acting.',
  })
  retryAt!: Date | null;

  @Entries(USUAL_EVIDENCE)
  @Field(() => [EvidenceType], { description: 'What the finding rests on.' })
  evidence!: EvidenceType[];
}

@ObjectType('Certificate', { description: 'The certificate that is served.', ...PLAIN })
export class CertificateType {
  @Field(() => String, { description: 'Who issued it.' })
  issuer!: string;

  @Field(() => String, { description: 'Its serial number, in hexadecimal.' })
  serialNumber!: string;

  @Field(() => GraphQLDateTime, { description: 'From when it is valid.' })
  notBefore!: Date;

  @Field(() => GraphQLDateTime, { description: 'Until when it is valid.' })
  notAfter!: Date;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'When it is renewed by itself; null = it will not be, as things stand.',
  })
  renewAt!: Date | null;
}

@ObjectType('DomainRedirect', { description: 'Where a host sends its clients.', ...PLAIN })
export class DomainRedirectType {
  @Field(() => String, { description: 'The host that redirects.' })
  from!: string;

  @Field(() => String, { description: 'The host it leads to.' })
  to!: string;

  @Field(() => Int, { description: 'The HTTP status: 301, 302, 307 or 308.' })
  status!: number;
}

@ObjectType('DomainEvent', { description: 'One change in the life of a domain.', ...PLAIN })
export class DomainEventType {
  @Field(() => GraphQLDateTime, { description: 'When.' })
  at!: Date;

  @Field(() => String, { description: 'What, for programs, such as `domain.verified`.' })
  name!: string;

  @Field(() => String, { description: 'What, in one sentence.' })
  message!: string;

  @Entries(USUAL_DIAGNOSES)
  @Field(() => [DiagnosisType], { description: 'What was found, with its evidence.' })
  diagnoses!: DiagnosisType[];
}

@ObjectType('Domain', { description: 'A host name attached to the project.', ...PLAIN })
export class DomainType {
  @Field(() => ID, { description: 'Its identifier.' })
  id!: string;

  @Field(() => String, { description: 'The host name, in ASCII.' })
  hostname!: string;

  @Field(() => DomainStatusEnum, { description: 'How it stands.' })
  status!: DomainStatus;

  @Field(() => Boolean, { description: 'Whether requests for it are answered.' })
  serving!: boolean;

  @Field(() => Boolean, { description: "Whether it is the project's primary domain." })
  primary!: boolean;

  @Field(() => DomainRedirectType, {
    nullable: true,
    description: 'Where it redirects to; null = it serves.',
  })
  redirect!: DomainRedirectType | null;

  @Entries(MAX_RECORDS_TO_CREATE)
  @Field(() => [DnsRecordType], { description: 'The DNS records that are still to be created.' })
  instructions!: DnsRecordType[];

  @Entries(USUAL_DIAGNOSES)
  @Field(() => [DiagnosisType], { description: 'What the last check and the last order found.' })
  diagnoses!: DiagnosisType[];

  @Field(() => GraphQLDateTime, { nullable: true, description: 'When DNS was last looked at.' })
  checkedAt!: Date | null;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'When it is looked at again by itself; null = not before somebody asks.',
  })
  nextCheckAt!: Date | null;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'When a certificate is ordered next by itself; null = nothing is planned.',
  })
  nextOrderAt!: Date | null;

  @Field(() => GraphQLDateTime, { description: 'When it was attached.' })
  createdAt!: Date;
}

@ObjectType('DomainEffect', { description: 'What an attached host does with requests.', ...PLAIN })
export class DomainEffectType {
  @Field(() => String, { description: 'The host.' })
  hostname!: string;

  @Field(() => ActionEnum, { description: 'What it does.' })
  action!: string;

  @Field(() => String, { nullable: true, description: 'Where it redirects to.' })
  to!: string | null;

  @Field(() => Int, { nullable: true, description: 'The HTTP status of the redirect.' })
  status!: number | null;

  @Field(() => String, { description: 'What happens to an example request.' })
  example!: string;
}

@ObjectType('Domains', { description: "The configuration of the project's domains.", ...PLAIN })
export class DomainsType {
  @Field(() => String, { nullable: true, description: 'The primary domain.' })
  primary!: string | null;

  @Entries(MAX_REDIRECTS)
  @Field(() => [DomainRedirectType], { description: 'The redirects.' })
  redirects!: DomainRedirectType[];

  @Entries(MAX_DOMAINS)
  @Field(() => [DomainEffectType], { description: 'What each attached host does with it.' })
  effects!: DomainEffectType[];

  @Field(() => Boolean, { description: 'Whether it is in force; false for a dry run.' })
  applied!: boolean;
}

@ObjectType('RemovedDomain', { description: 'A domain that was removed.', ...PLAIN })
export class RemovedDomainType {
  @Field(() => ID, { description: 'The identifier it had.' })
  id!: string;

  @Field(() => String, { description: 'The host name.' })
  hostname!: string;

  @Field(() => GraphQLDateTime, { description: 'From then on no process served it.' })
  stoppedAt!: Date;
}

@InputType('DomainRedirectInput', { description: 'A redirect from one attached host to another.' })
export class DomainRedirectInput {
  @Field(() => String, { description: 'The host that redirects.' })
  from!: string;

  @Field(() => String, { description: 'The host it leads to.' })
  to!: string;

  @Field(() => Int, { defaultValue: 301, description: 'The HTTP status: 301, 302, 307 or 308.' })
  status!: number;
}

@InputType('DomainsInput', { description: 'The whole configuration; it replaces the one in force.' })
export class DomainsInput {
  @Field(() => String, { nullable: true, description: 'The primary domain; null = none.' })
  primary?: string | null;

  @Field(() => [DomainRedirectInput], { description: 'The redirects.' })
  redirects!: DomainRedirectInput[];
}
