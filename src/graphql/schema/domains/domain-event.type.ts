import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ObjectType } from 'type-graphql';
import { MAX_DIAGNOSES } from '../../../domains/diagnosis/diagnosis.js';
import { PLAIN } from '../../execution/plain.js';
import { Entries } from '../../operations/entries.js';
import { DiagnosisType, USUAL_DIAGNOSES } from './diagnosis.type.js';

@ObjectType('DomainEvent', { description: 'An event in the history of a domain.', ...PLAIN })
export class DomainEventType {
  @Field(() => GraphQLDateTime, { description: 'When it happened.' })
  at!: Date;

  @Field(() => String, { description: 'The kind of the event, for programs, such as `domain.verified`.' })
  name!: string;

  @Field(() => String, { description: 'The event, in one sentence.' })
  message!: string;

  @Entries(USUAL_DIAGNOSES, MAX_DIAGNOSES)
  @Field(() => [DiagnosisType], { description: 'The findings, with their evidence.' })
  diagnoses!: DiagnosisType[];
}
