import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { MAX_REDIRECTS } from '../../../domains/domain-config.js';
import { MAX_DOMAINS } from '../../../domains/lifecycle/domain-attachment.js';
import { PLAIN } from '../../execution/plain.js';
import { Entries } from '../../operations/entries.js';
import { describedEnum } from './described-enum.js';

const ActionEnum = describedEnum('DomainAction', 'How a host handles requests.', {
  SERVES: 'Serves the project.',
  REDIRECTS: 'Redirects clients to another host, with path and query.',
});

@ObjectType('DomainRedirect', { description: 'A redirect from one attached host to another.', ...PLAIN })
export class DomainRedirectType {
  @Field(() => String, { description: 'The host that redirects.' })
  from!: string;

  @Field(() => String, { description: 'The target host.' })
  to!: string;

  @Field(() => Int, { description: 'The HTTP status: 301, 302, 307 or 308.' })
  status!: number;
}

@ObjectType('DomainEffect', { description: 'How an attached host handles requests.', ...PLAIN })
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

@ObjectType('Domains', { description: "The configuration of the project's domains.", ...PLAIN })
export class DomainsType {
  @Field(() => String, { nullable: true, description: 'The primary domain.' })
  primary!: string | null;

  @Entries(MAX_REDIRECTS)
  @Field(() => [DomainRedirectType], { description: 'The redirects.' })
  redirects!: DomainRedirectType[];

  @Entries(MAX_DOMAINS)
  @Field(() => [DomainEffectType], { description: 'The effect on each attached host.' })
  effects!: DomainEffectType[];

  @Field(() => Boolean, { description: 'Whether the configuration is active; false for a dry run.' })
  applied!: boolean;
}

@InputType('DomainRedirectInput', { description: 'A redirect from one attached host to another.' })
export class DomainRedirectInput {
  @Field(() => String, { description: 'The host that redirects.' })
  from!: string;

  @Field(() => String, { description: 'The target host.' })
  to!: string;

  @Field(() => Int, { defaultValue: 301, description: 'The HTTP status: 301, 302, 307 or 308.' })
  status!: number;
}

@InputType('DomainsInput', { description: 'The whole configuration; it replaces the current one.' })
export class DomainsInput {
  @Field(() => String, { nullable: true, description: 'The primary domain; null = none.' })
  primary?: string | null;

  @Field(() => [DomainRedirectInput], { description: 'The redirects.' })
  redirects!: DomainRedirectInput[];
}
