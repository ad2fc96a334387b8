import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { AuditPage, ShownEvent } from '../../../audit/project-audit.js';
import { PLAIN } from '../../execution/plain.js';
import { COUNTED_BY_FIRST, Entries } from '../../operations/entries.js';
import { PageInfoType } from './page-info.type.js';
import { pageInfo } from './requested-page.js';

/** An act has at most as many details; of those, a key's creation has three. */
const USUAL_DETAILS = 3;
/** Names the list in cursors. */
export const AUDIT_LIST = 'audit';

@ObjectType('AuditDetail', {
  description: 'A fact about an act, for example `plan` with the value `PRO`.',
  ...PLAIN,
})
export class AuditDetailType {
  @Field(() => String, { description: 'The kind of the detail, such as `plan` or `expiresAt`.' })
  name!: string;

  @Field(() => String, {
    nullable: true,
    description:
      'Its value as text, times in ISO 8601; null = not set, such as the expiry of a key without one.',
  })
  value!: string | null;
}

@ObjectType('AuditEvent', {
  description:
    'An act that changed the project, its keys or its domains. Events are never changed or deleted.',
  ...PLAIN,
})
export class AuditEventType {
  @Field(() => ID, {
    description: 'The digits of a 64-bit integer, such as `4711`; later events have larger ones.',
  })
  id!: string;

  @Field(() => GraphQLDateTime, {
    description: 'When the act was recorded, in one transaction with its effect.',
  })
  at!: Date;

  @Field(() => String, {
    description:
      'The person, key or part of the gateway that acted, for people: such as `API key Checkout (pk_3fGh…)`, `Operator, on the command line` or `The rate limiter`.',
  })
  actor!: string;

  @Field(() => String, {
    description: 'The kind of the act, for programs, such as `key.create` or `domain.add`.',
  })
  action!: string;

  @Field(() => String, {
    description:
      'The changed thing: the id of a key, a host name, the slug of the project, or the name of a file.',
  })
  subject!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The `X-Request-Id` of the request that acted; null = no request of this project did.',
  })
  requestId!: string | null;

  @Entries(USUAL_DETAILS)
  @Field(() => [AuditDetailType], {
    description: 'Further facts; the first one of an act on a key is the `key`, by its name and prefix.',
  })
  detail!: AuditDetailType[];
}

@ObjectType('AuditEventConnection', { description: 'A page of the audit log, newest first.', ...PLAIN })
export class AuditEventConnectionType {
  @Entries(COUNTED_BY_FIRST)
  @Field(() => [AuditEventType], { description: 'At most `first` events, the newest first.' })
  nodes!: AuditEventType[];

  @Field(() => PageInfoType, {
    description: 'The position of the page; its `endCursor` as `after` reads the next, older events.',
  })
  pageInfo!: PageInfoType;
}

export function presentAuditPage({ events, hasNextPage }: AuditPage, isContinued: boolean) {
  return {
    nodes: events.map(presentAuditEvent),
    pageInfo: pageInfo(AUDIT_LIST, events, { isContinued, hasNextPage }),
  };
}

function presentAuditEvent({ id, atMs, ...texts }: ShownEvent): AuditEventType {
  return { id: String(id), at: new Date(atMs), ...texts };
}
