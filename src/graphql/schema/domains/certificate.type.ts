import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ObjectType } from 'type-graphql';
import { PLAIN } from '../../execution/plain.js';

@ObjectType('Certificate', { description: 'The certificate that is served.', ...PLAIN })
export class CertificateType {
  @Field(() => String, { description: 'The issuer.' })
  issuer!: string;

  @Field(() => String, { description: 'The serial number, in hexadecimal.' })
  serialNumber!: string;

  @Field(() => GraphQLDateTime, { description: 'The start of its validity.' })
  notBefore!: Date;

  @Field(() => GraphQLDateTime, { description: 'The end of its validity.' })
  notAfter!: Date;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'When it is renewed automatically; null = no renewal is planned.',
  })
  renewAt!: Date | null;
}
