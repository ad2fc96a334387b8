import { Field, ID, InputType } from 'type-graphql';
import { invalidField } from '../../../../ground/kernel/errors.js';
import { got } from '../../../../ground/kernel/got.js';
import type { AuditFilter } from '../../../../tenants/audit/project-audit.js';
import { COUNTED_BY_FIRST, Entries, PlainType, TimeField } from '../../operations/type-options.js';
import { PageInfoType, valuesOf } from './page.js';

/** An act has at most as many details; of those, a key's creation has three. */
const USUAL_DETAILS = 3;
const KIND = /^[a-z]{1,20}$/;

@PlainType('AuditDetail', 'A fact about an act, for example `plan` with the value `PRO`.')
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

@InputType('AuditEventFilter', {
  description:
    'An act must have every given value, for example `{kind: "key"}`. A null, and a value left out, asks for nothing.',
})
export class AuditEventFilterInput {
  @Field(() => String, {
    nullable: true,
    description: 'The first part of its `action`: such as `key` for `key.create` and `key.revoke`.',
  })
  kind?: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'The `id` of the API key that acted, such as `4711`. An unknown one selects nothing.',
  })
  keyId?: string | null;
}

/** Throws `AppError invalid_request`. */
export function auditFilter(given: AuditEventFilterInput | null | undefined): AuditFilter {
  const kind = given?.kind;
  if (typeof kind === 'string' && !KIND.test(kind)) {
    throw invalidField('filter.kind', got('must be 1 to 20 letters from a to z', kind));
  }
  return valuesOf(given);
}

@PlainType(
  'AuditEvent',
  'An act that changed the project, its keys or its domains. Events are never changed or deleted.',
)
export class AuditEventType {
  @Field(() => ID, {
    description: 'The digits of a 64-bit integer, such as `4711`; later events have larger ones.',
  })
  id!: string;

  @TimeField('When the act was recorded, in one transaction with its effect.')
  atMs!: number;

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

@PlainType('AuditEventConnection', 'A page of the audit log, newest first.')
export class AuditEventConnectionType {
  @Entries(COUNTED_BY_FIRST)
  @Field(() => [AuditEventType], { description: 'At most `first` events, the newest first.' })
  nodes!: AuditEventType[];

  @Field(() => PageInfoType, {
    description: 'The position of the page; its `endCursor` as `after` reads the next, older events.',
  })
  pageInfo!: PageInfoType;
}
