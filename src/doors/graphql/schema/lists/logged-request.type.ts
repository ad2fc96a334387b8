import { Field, Float, ID, InputType, Int } from 'type-graphql';
import type { RequestOutcome } from '../../../../ground/kernel/answered-request.js';
import type { LoggedDoor } from '../../../../tenants/request-log/logged-request.entity.js';
import {
  COUNTED_BY_FIRST,
  describedEnum,
  Entries,
  inCapitals,
  PlainType,
  TimeField,
} from '../../operations/type-options.js';
import { PageInfoType } from './page.js';

const DoorEnum = describedEnum<LoggedDoor>(
  'Door',
  'The API that a request was sent to. Its path decides, on any host.',
  {
    graphql: 'The path is `/graphql`.',
    rest: 'The path begins with `/v1`.',
  },
  inCapitals,
);

const OutcomeEnum = describedEnum<RequestOutcome>(
  'RequestOutcome',
  'Whether a request was admitted, and whether its answer has an error.',
  {
    ok: 'Admitted, and answered without an error.',
    failed: 'Admitted, and answered with an error: HTTP 4xx or 5xx, or `errors` of GraphQL.',
    refused: 'Refused by a quota, an allowance, the limit of a field or a ban.',
  },
  inCapitals,
);

@InputType('RequestFilter', {
  description:
    'A request must have every given value, for example `{door: REST, outcome: FAILED}`. A null, and a value left out, asks for nothing.',
})
export class RequestFilterInput {
  @Field(() => ID, {
    nullable: true,
    description: 'The `id` of the API key that sent it, such as `4711`. An unknown one selects nothing.',
  })
  keyId?: string | null;

  @Field(() => DoorEnum, {
    nullable: true,
    description: 'The API that it was sent to, such as `REST`.',
  })
  door?: LoggedDoor | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Its operation, exactly as `Request.operation` shows it: `{{listOperation}}`, `Shelf` or `{{items}},project`.',
  })
  operation?: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'Its HTTP status, such as `404`. GraphQL errors often have status 200: `outcome` selects them.',
  })
  status?: number | null;

  @Field(() => OutcomeEnum, {
    nullable: true,
    description: 'How it ended; `REFUSED` selects the requests beyond a quota.',
  })
  outcome?: RequestOutcome | null;

  @Field(() => String, {
    nullable: true,
    description:
      'The `X-Request-Id` of its answer, as support gets it from a client; a part of it selects nothing.',
  })
  requestId?: string | null;
}

@PlainType('Request', 'An answered request. Its body, document, variables, address and token are not kept.')
export class LoggedRequestType {
  @Field(() => ID, {
    description: 'The digits of a 64-bit integer, such as `4711`; later requests have larger ones.',
  })
  id!: string;

  @TimeField('When its answer was complete.')
  atMs!: number;

  @Field(() => ID, { description: 'The `id` of the API key that sent it. The key may be revoked since.' })
  keyId!: string;

  @Field(() => String, {
    description: 'The name of that key today, also if it was renamed after the request.',
  })
  keyName!: string;

  @Field(() => String, { description: 'The first characters of its token, as in `ApiKey.prefix`.' })
  keyPrefix!: string;

  @Field(() => DoorEnum, { description: 'The API that it was sent to, also if it was refused there.' })
  door!: LoggedDoor;

  @Field(() => String, {
    description:
      'The operation id of REST, such as `{{listOperation}}`; the name of a GraphQL operation, or its root fields if it has none; or `other`.',
  })
  operation!: string;

  @Field(() => Int, {
    description:
      'The HTTP status of its answer, such as `404`; 200 for most errors of GraphQL, which `code` shows.',
  })
  status!: number;

  @Field(() => String, {
    nullable: true,
    description:
      'The code of its first error, in upper case for both APIs, such as `NOT_FOUND`; null = no error.',
  })
  code!: string | null;

  @Field(() => OutcomeEnum, { description: 'Whether it was admitted, and whether its answer has an error.' })
  outcome!: RequestOutcome;

  @Field(() => Float, {
    description: 'From its arrival to the end of its answer, in milliseconds, such as `3.25`.',
  })
  durationMs!: number;

  @Field(() => Int, {
    description:
      "The units of the plan's quota that it spent: 1 for most, more for several fields about {{nouns}}, 0 for management and for refused requests.",
  })
  units!: number;

  @Field(() => String, {
    description: 'The `X-Request-Id` of its answer. The operator finds it in the log of the gateway.',
  })
  requestId!: string;
}

@PlainType('RequestConnection', 'A page of the request log, newest first.')
export class RequestConnectionType {
  @Entries(COUNTED_BY_FIRST)
  @Field(() => [LoggedRequestType], { description: 'At most `first` requests, the newest first.' })
  nodes!: LoggedRequestType[];

  @Field(() => PageInfoType, {
    description: 'The position of the page; its `endCursor` as `after` reads the next, older requests.',
  })
  pageInfo!: PageInfoType;

  @Field(() => Int, {
    description: 'How many requests of the last 48 hours the log does not have, regardless of the filter.',
  })
  leftOut!: number;

  @Field(() => Boolean, {
    description: 'Whether the gateway keeps a log of requests; false with `REQUEST_LOG=off`.',
  })
  isOn!: boolean;
}

@PlainType('StrikingClient', 'A client that made strikes: it did not pause after a `429`.')
export class StrikingClientType {
  @Field(() => ID, { description: 'The key that it used.' })
  keyId!: string;

  @Field(() => String, { description: 'Its `User-Agent`: at most 200 characters.' })
  client!: string;

  @Field(() => Int, { description: 'Its strikes with this key in the last 48 hours.' })
  strikes!: number;

  @TimeField('When it made the last one.')
  lastAtMs!: number;
}
