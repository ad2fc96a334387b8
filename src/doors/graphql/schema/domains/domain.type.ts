import { Field, ID, InputType, Int } from 'type-graphql';
import { MAX_DIAGNOSES } from '../../../../domains/diagnosis/diagnosis.js';
import { MAX_DOMAINS, MAX_REDIRECTS } from '../../../../domains/store/domain-sizes.js';
import { DOMAIN_STATUSES } from '../../../../domains/store/domain-status.js';
import { describedEnum, Entries, PlainType, TimeField } from '../../operations/type-options.js';
import { DiagnosisType, USUAL_DIAGNOSES } from './diagnosis.type.js';

const ActionEnum = describedEnum('DomainAction', 'How a host handles requests.', {
  SERVES: 'Serves the project.',
  REDIRECTS: 'Redirects clients to another host, with path and query.',
});

const REDIRECT = 'A redirect from one attached host to another.';

@InputType('DomainRedirectInput', { description: REDIRECT })
@PlainType('DomainRedirect', REDIRECT)
export class DomainRedirectType {
  @Field(() => String, { description: 'The host that redirects.' })
  from!: string;

  @Field(() => String, { description: 'The target host.' })
  to!: string;

  @Field(() => Int, { defaultValue: 301, description: 'The HTTP status: 301, 302, 307 or 308.' })
  status!: number;
}

@PlainType('DomainEffect', 'How an attached host handles requests.')
export class DomainEffectType {
  @Field(() => String, { description: 'The host.' })
  hostname!: string;

  @Field(() => ActionEnum, { description: 'The action.' })
  action!: string;

  @Field(() => String, { nullable: true, description: 'The target host of the redirect.' })
  to!: string | null;

  @Field(() => Int, { nullable: true, description: 'The HTTP status of the redirect.' })
  status!: number | null;

  @Field(() => String, { description: 'The result of an example request.' })
  example!: string;
}

@PlainType('Domains', "The configuration of the project's domains.")
export class DomainsType {
  @Field(() => String, { nullable: true, description: 'The primary domain.' })
  primary!: string | null;

  @Entries(MAX_REDIRECTS)
  @Field(() => [DomainRedirectType], { description: 'The redirects.' })
  redirects!: DomainRedirectType[];

  @Entries(MAX_DOMAINS)
  @Field(() => [DomainEffectType], { description: 'The effect on each attached host.' })
  effects!: DomainEffectType[];

  @Field(() => Boolean, {
    name: 'applied',
    simple: false,
    description: 'Whether the configuration is active; false for a dry run.',
  })
  isApplied!: boolean;
}

@InputType('DomainsInput', { description: 'The whole configuration; it replaces the current one.' })
export class DomainsInput {
  @Field(() => String, { nullable: true, description: 'The primary domain; null = none.' })
  primary?: string | null;

  @Field(() => [DomainRedirectType], { description: 'The redirects.' })
  redirects!: DomainRedirectType[];
}

@PlainType('Certificate', 'The certificate that is served.')
export class CertificateType {
  @Field(() => String, { description: 'The issuer.' })
  issuer!: string;

  @Field(() => String, { description: 'The serial number, in hexadecimal.' })
  serialNumber!: string;

  @TimeField('The start of its validity.')
  notBeforeMs!: number;

  @TimeField('The end of its validity.')
  notAfterMs!: number;

  @TimeField('When it is renewed automatically; null = no renewal is planned.', { nullable: true })
  renewAtMs!: number | null;
}

const RecordTypeEnum = describedEnum('DnsRecordType', 'The type of a DNS record to create.', {
  CNAME: 'For a subdomain.',
  ALIAS: 'For an apex domain; some providers call it ANAME or flattened CNAME.',
  TXT: 'Proves that the domain is yours.',
});

@PlainType('DnsRecord', 'A DNS record for the owner to create.')
export class DnsRecordType {
  @Field(() => RecordTypeEnum, { description: 'The type.' })
  type!: string;

  @Field(() => String, {
    description: 'The full name, without a trailing dot, such as `shop.example.com`.',
  })
  name!: string;

  @Field(() => String, {
    description:
      'The name below the registered domain, as most DNS providers want it: `shop`, or `@` for the registered domain itself.',
  })
  label!: string;

  @Field(() => String, { description: 'The value.' })
  value!: string;

  @Field(() => Int, { name: 'ttl', simple: false, description: 'The time to live, in seconds.' })
  ttlSeconds!: number;
}

@PlainType('DomainEvent', 'An event in the history of a domain.')
export class DomainEventType {
  @TimeField('When it happened.')
  atMs!: number;

  @Field(() => String, { description: 'The kind of the event, for programs, such as `domain.verified`.' })
  name!: string;

  @Field(() => String, { description: 'The event, in one sentence.' })
  message!: string;

  @Entries(USUAL_DIAGNOSES, MAX_DIAGNOSES)
  @Field(() => [DiagnosisType], { description: 'The findings, with their evidence.' })
  diagnoses!: DiagnosisType[];
}

export const DomainStatusEnum = describedEnum('DomainStatus', 'The status of a domain.', DOMAIN_STATUSES);

/** The columns that are shown as they are; `DomainResolver` has the other fields. */
@PlainType('Domain', 'A host name attached to the project.')
export class DomainType {
  @Field(() => String, { description: 'The host name, in ASCII.' })
  hostname!: string;

  @Field(() => Boolean, {
    name: 'primary',
    simple: false,
    description: "Whether it is the project's primary domain.",
  })
  isPrimary!: boolean;

  @TimeField('When DNS was last checked.', { nullable: true })
  checkedAtMs!: number | null;

  @TimeField('When DNS is next checked automatically; null = only on request.', { nullable: true })
  nextCheckAtMs!: number | null;

  @TimeField('When a certificate is next ordered automatically; null = no order is planned.', {
    nullable: true,
  })
  nextOrderAtMs!: number | null;

  @TimeField('When it was attached.')
  createdAtMs!: number;
}

@PlainType('RemovedDomain', 'A domain that was removed.')
export class RemovedDomainType {
  @Field(() => ID, { description: 'The former identifier.' })
  id!: string;

  @Field(() => String, { description: 'The host name.' })
  hostname!: string;

  @TimeField('When the last process stopped serving it.')
  stoppedAtMs!: number;
}
