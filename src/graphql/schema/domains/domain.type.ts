import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import { MAX_DIAGNOSES } from '../../../domains/diagnosis/diagnosis.js';
import { MAX_RECORDS_TO_CREATE } from '../../../domains/diagnosis/dns-records.js';
import { DOMAIN_STATUSES, type DomainStatus } from '../../../domains/store/domain-status.js';
import { PLAIN } from '../../execution/plain.js';
import { Entries } from '../../operations/entries.js';
import { describedEnum } from './described-enum.js';
import { DiagnosisType, USUAL_DIAGNOSES } from './diagnosis.type.js';
import { DnsRecordType } from './dns-record.type.js';
import { DomainRedirectType } from './domain-config.type.js';

const DomainStatusEnum = describedEnum('DomainStatus', 'The status of a domain.', DOMAIN_STATUSES);

@ObjectType('Domain', { description: 'A host name attached to the project.', ...PLAIN })
export class DomainType {
  @Field(() => ID, { description: 'The identifier.' })
  id!: string;

  @Field(() => String, { description: 'The host name, in ASCII.' })
  hostname!: string;

  @Field(() => DomainStatusEnum, { description: 'The status.' })
  status!: DomainStatus;

  @Field(() => Boolean, { description: 'Whether requests for it are answered.' })
  serving!: boolean;

  @Field(() => Boolean, { description: "Whether it is the project's primary domain." })
  primary!: boolean;

  @Field(() => DomainRedirectType, {
    nullable: true,
    description: 'The redirect of this host; null = it serves the project.',
  })
  redirect!: DomainRedirectType | null;

  @Entries(MAX_RECORDS_TO_CREATE)
  @Field(() => [DnsRecordType], { description: 'The DNS records that still have to be created.' })
  instructions!: DnsRecordType[];

  @Entries(USUAL_DIAGNOSES, MAX_DIAGNOSES)
  @Field(() => [DiagnosisType], { description: 'The findings of the last check and the last order.' })
  diagnoses!: DiagnosisType[];

  @Field(() => GraphQLDateTime, { nullable: true, description: 'When DNS was last checked.' })
  checkedAt!: Date | null;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'When DNS is next checked automatically; null = only on request.',
  })
  nextCheckAt!: Date | null;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'When a certificate is next ordered automatically; null = no order is planned.',
  })
  nextOrderAt!: Date | null;

  @Field(() => GraphQLDateTime, { description: 'When it was attached.' })
  createdAt!: Date;
}

@ObjectType('RemovedDomain', { description: 'A domain that was removed.', ...PLAIN })
export class RemovedDomainType {
  @Field(() => ID, { description: 'The former identifier.' })
  id!: string;

  @Field(() => String, { description: 'The host name.' })
  hostname!: string;

  @Field(() => GraphQLDateTime, { description: 'When the last process stopped serving it.' })
  stoppedAt!: Date;
}
