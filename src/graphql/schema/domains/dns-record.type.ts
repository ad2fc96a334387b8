import { Field, Int, ObjectType } from 'type-graphql';
import { PLAIN } from '../../execution/plain.js';
import { describedEnum } from './described-enum.js';

const RecordTypeEnum = describedEnum('DnsRecordType', 'The type of a DNS record to create.', {
  CNAME: 'For a subdomain.',
  ALIAS: 'For an apex domain; some providers call it ANAME or flattened CNAME.',
  TXT: 'Proves that the domain is yours.',
});

@ObjectType('DnsRecord', { description: 'A DNS record for the owner to create.', ...PLAIN })
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

  @Field(() => Int, { description: 'The time to live, in seconds.' })
  ttl!: number;
}
