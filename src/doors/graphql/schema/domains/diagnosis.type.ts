import { Field, Int } from 'type-graphql';
import {
  DIAGNOSIS_CODES,
  type Diagnosis,
  type DiagnosisActor,
  type DiagnosisCode,
  type DiagnosisSeverity,
  type Evidence,
  MAX_EVIDENCE,
} from '../../../../domains/diagnosis/diagnosis.js';
import { describedEnum, Entries, PlainType, TimeField } from '../../operations/type-options.js';

/** The usual sizes, so that one operation can request the findings of all domains with their evidence. */
export const USUAL_DIAGNOSES = 3;
const USUAL_EVIDENCE = 1;

const SEVERITIES: Record<DiagnosisSeverity, string> = {
  ERROR: 'The domain does not work until this is fixed.',
  WARNING: 'The domain will stop working, or its renewal will fail, unless somebody acts.',
  INFO: 'For information; no action is needed.',
};

const ACTORS: Record<DiagnosisActor, string> = {
  OWNER: "The administrator of the domain's DNS records.",
  DNS_PROVIDER: "The operator of the domain's name servers.",
  PLATFORM: 'The operator of this gateway.',
  CERTIFICATE_AUTHORITY: 'The certificate authority.',
  NOBODY: 'Nobody: the problem ends automatically.',
};

const DiagnosisCodeEnum = describedEnum(
  'DiagnosisCode',
  'The kind of a finding about a domain, for programs.',
  DIAGNOSIS_CODES,
);
const SeverityEnum = describedEnum('DiagnosisSeverity', 'The severity of a finding.', SEVERITIES);
const ActorEnum = describedEnum('DiagnosisActor', 'The party that has to act.', ACTORS);

@PlainType('Evidence', 'The answer of a server.')
export class EvidenceType implements Evidence {
  @Field(() => String, {
    description: 'The server: an address and port, or a URL of the certificate authority.',
  })
  server!: string;

  @Field(() => String, { description: 'The question to the server.' })
  question!: string;

  @Field(() => String, { description: 'The answer.' })
  answer!: string;

  @Field(() => Int, {
    name: 'ttl',
    simple: false,
    nullable: true,
    description: 'How long caches may keep the answer, in seconds.',
  })
  ttlSeconds!: number | null;

  @TimeField('When the server answered.')
  atMs!: number;
}

@PlainType('Diagnosis', 'A finding about a domain, with its cause and its remedy.')
export class DiagnosisType implements Diagnosis {
  @Field(() => DiagnosisCodeEnum, { description: 'The kind of the finding, for programs.' })
  code!: DiagnosisCode;

  @Field(() => SeverityEnum, { description: 'The severity.' })
  severity!: DiagnosisSeverity;

  @Field(() => ActorEnum, { description: 'The party that has to act.' })
  actor!: DiagnosisActor;

  @Field(() => String, { description: 'The cause, in one sentence.' })
  cause!: string;

  @Field(() => String, { description: 'The remedy, in one sentence.' })
  remedy!: string;

  @TimeField('When a retry can succeed at the earliest; null = any time after acting.', {
    nullable: true,
  })
  retryAtMs!: number | null;

  @Entries(USUAL_EVIDENCE, MAX_EVIDENCE)
  @Field(() => [EvidenceType], { description: 'The evidence for the finding.' })
  evidence!: EvidenceType[];
}
