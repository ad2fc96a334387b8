import { GraphQLDateTime } from 'graphql-scalars';
import { Field, Float, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { RequestOutcome } from '../../../kernel/answered-request.js';
import { parseInt64 } from '../../../kernel/int64.js';
import type { LoggedDoor } from '../../../request-log/logged-request.entity.js';
import type { RequestPage, ShownRequest } from '../../../request-log/project-requests.js';
import type { RequestFilter } from '../../../request-log/request-filter.js';
import { PLAIN } from '../../execution/plain.js';
import { COUNTED_BY_FIRST, Entries } from '../../operations/entries.js';
import { PageInfoType } from './page-info.type.js';
import { pageInfo } from './requested-page.js';

const DoorEnum: Record<string, LoggedDoor> = { GRAPHQL: 'graphql', REST: 'rest' };
const OutcomeEnum: Record<string, RequestOutcome> = { OK: 'ok', FAILED: 'failed', REFUSED: 'refused' };
const INT_MAX = 2 ** 31 - 1;
/** No key has it: ids are never negative. */
const NO_KEY_ID = -1n;

registerEnumType(DoorEnum, {
  name: 'Door',
  description: 'The API that a request used.',
  valuesConfig: { GRAPHQL: { description: '`/graphql`.' }, REST: { description: '`/v1`.' } },
});

registerEnumType(OutcomeEnum, {
  name: 'RequestOutcome',
  description: 'How a request ended.',
  valuesConfig: {
    OK: { description: 'Answered without an error.' },
    FAILED: { description: 'Admitted, and answered with an error: HTTP 4xx or 5xx, or `errors` of GraphQL.' },
    REFUSED: { description: 'Refused by a quota, an allowance, the limit of a field or a ban.' },
  },
});

@InputType('RequestFilter', { description: 'A request must have every given value; null asks for nothing.' })
export class RequestFilterInput {
  @Field(() => ID, { nullable: true, description: 'The key that sent it.' })
  keyId?: string | null;

  @Field(() => DoorEnum, { nullable: true, description: 'The API that it used.' })
  door?: LoggedDoor | null;

  @Field(() => String, {
    nullable: true,
    description: 'Its operation, exactly as listed, such as `listPets`.',
  })
  operation?: string | null;

  @Field(() => Int, { nullable: true, description: 'Its HTTP status, such as 404.' })
  status?: number | null;

  @Field(() => OutcomeEnum, { nullable: true, description: 'How it ended.' })
  outcome?: RequestOutcome | null;

  @Field(() => String, { nullable: true, description: 'Its `X-Request-Id`.' })
  requestId?: string | null;
}

@ObjectType('Request', {
  description: 'An answered request. Its body, document, variables, address and token are not kept.',
  ...PLAIN,
})
export class LoggedRequestType {
  @Field(() => ID, { description: 'The digits of a 64-bit integer; later requests have larger ones.' })
  id!: string;

  @Field(() => GraphQLDateTime, { description: 'When it was answered.' })
  at!: Date;

  @Field(() => ID, { description: 'The key that sent it.' })
  keyId!: string;

  @Field(() => String, { description: "The key's present name." })
  keyName!: string;

  @Field(() => String, { description: "The first characters of the key's token." })
  keyPrefix!: string;

  @Field(() => DoorEnum, { description: 'The API that it used.' })
  door!: LoggedDoor;

  @Field(() => String, {
    description:
      'The operation id of REST, such as `listPets`; the name of a GraphQL operation, or its root fields if it has none; or `other`.',
  })
  operation!: string;

  @Field(() => Int, { description: 'Its HTTP status.' })
  status!: number;

  @Field(() => String, {
    nullable: true,
    description:
      'The code of its first error, in upper case for both APIs, such as `NOT_FOUND`; null = no error.',
  })
  code!: string | null;

  @Field(() => OutcomeEnum, { description: 'How it ended.' })
  outcome!: RequestOutcome;

  @Field(() => Float, { description: 'From its arrival to the end of its answer, in milliseconds.' })
  durationMs!: number;

  @Field(() => Int, { description: "The units of the plan's quota that it spent." })
  units!: number;

  @Field(() => String, { description: 'Its `X-Request-Id`, which the log of the gateway has too.' })
  requestId!: string;
}

@ObjectType('RequestConnection', { description: 'A page of the request log, newest first.', ...PLAIN })
export class RequestConnectionType {
  @Entries(COUNTED_BY_FIRST)
  @Field(() => [LoggedRequestType], { description: 'The requests.' })
  nodes!: LoggedRequestType[];

  @Field(() => PageInfoType, { description: 'The position of the page in the list.' })
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

/** An id that is not an integer is the id of no key, so that no request matches. */
export function requestFilter(given: RequestFilterInput | null | undefined): RequestFilter {
  const { keyId, ...rest } = given ?? {};
  const filter = Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== null && value !== undefined),
  );
  return typeof keyId === 'string' ? { ...filter, keyId: parseInt64(keyId) ?? NO_KEY_ID } : filter;
}

export function presentRequestPage(
  { requests, hasNextPage, leftOut }: RequestPage,
  { list, isContinued, isOn }: { list: string; isContinued: boolean; isOn: boolean },
): RequestConnectionType {
  return {
    nodes: requests.map(presentRequest),
    pageInfo: pageInfo(list, requests, { isContinued, hasNextPage }),
    leftOut: Math.min(leftOut, INT_MAX),
    isOn,
  };
}

function presentRequest({ id, atMs, keyId, key, ...facts }: ShownRequest): LoggedRequestType {
  const { name: keyName, prefix: keyPrefix } = key;
  return { id: String(id), at: new Date(atMs), keyId: String(keyId), keyName, keyPrefix, ...facts };
}
