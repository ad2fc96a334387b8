import { ERRORS, type ErrorCode } from '../../../ground/kernel/errors.js';
import { cursorOf } from '../../../ground/records/position.js';
import type { NounDescription } from '../../../nouns.js';
import { type OwnNames, REPLAYED } from '../../../request/http/headers.js';
import { STRIKES_TO_BAN } from '../../../request/rate-limit/rules/bans.js';
import type { RestDocument } from '../rest-document.js';
import { errorExample } from './refusals.js';

const CHANGE_CURSOR = cursorOf({ number: 42, atMs: 1764892800000 });

const textHeader = (description: string, example: string) => ({
  description,
  schema: { type: 'string', examples: [example] },
});

const countHeader = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0, examples: [example] },
});

type Header = ReturnType<typeof textHeader> | ReturnType<typeof countHeader>;

/** Every response header of `/v1`, as OpenAPI declares it, with examples of the noun. */
const headersOf = ({ singular, plural }: NounDescription, names: OwnNames): Record<string, Header> => ({
  'X-Request-Id': textHeader(
    "Identifies this request in the gateway's log.",
    '5f0c6e1e-3a52-4c1b-8f5b-0d6a1f2c9a7e',
  ),
  'Cache-Control': textHeader(
    'The response is for this client only, and must be revalidated before reuse.',
    'private, no-cache',
  ),
  Deprecation: textHeader('RFC 9745: when the operation was deprecated.', '@1764892800'),
  ETag: textHeader(
    'RFC 9110: changes with the body; send it back in If-None-Match.',
    '"1Q0vXh3mR2k8n5b7c9d0e1f2g3h"',
  ),
  [REPLAYED]: textHeader(
    '`true` on the stored answer to a repeated Idempotency-Key: nothing was created.',
    'true',
  ),
  Link: textHeader(
    'RFC 8288: related pages.',
    `<${BASE}/${plural}?limit=20&cursor=${cursorAt42(singular)}>; rel="next"`,
  ),
  Location: textHeader(`The address of the created ${singular}.`, `${BASE}/${plural}/4711`),
  [names.ignoredParameters]: textHeader(
    'Query parameters that the operation does not know and has ignored, percent-encoded: at most 10, each cut to 30 characters. `...` stands for further ones.',
    'page, sort',
  ),
  [names.changesCursor]: textHeader(
    'The position in the change log at which the page was read; absent while the log is off.',
    CHANGE_CURSOR,
  ),
  [names.strikes]: {
    description: `On a refusal that made a strike: the strikes of the key, with this one. ${STRIKES_TO_BAN} ban it. Any other 429 lacks this header.`,
    schema: { type: 'integer', minimum: 1, examples: [3] },
  },
  'Retry-After': {
    description: 'Seconds to wait before a new attempt.',
    schema: { type: 'integer', minimum: 1, examples: [1] },
  },
  RateLimit: textHeader(
    'IETF draft: the remaining quota of both windows.',
    '"minute";r=59;t=31, "day";r=999;t=86371',
  ),
  'RateLimit-Policy': textHeader(
    'IETF draft: the limits of both windows.',
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  Sunset: textHeader('RFC 8594: when the operation will be removed.', 'Thu, 05 Dec 2030 00:00:00 GMT'),
  Vary: textHeader('The request headers that the response depends on.', 'Authorization'),
  'X-RateLimit-Limit': countHeader(
    'Requests allowed in the window: the violated one, otherwise the one with less left.',
    60,
  ),
  'X-RateLimit-Remaining': countHeader('Requests left in that window.', 59),
  'X-RateLimit-Reset': countHeader('Unix timestamp at which that window resets.', 1764892860),
  'WWW-Authenticate': textHeader('RFC 6750: how to authenticate.', names.challenge),
});

const BASE = 'http://127.0.0.1:4000/v1';
const cursorAt42 = (singular: string) => Buffer.from(`${singular}:42`).toString('base64url');

/** The headers of a 429, as the gateway sends them beside the first example of its body: "Try again in 42 s". */
const REFUSED: Record<string, string | number> = {
  'Retry-After': 42,
  'X-RateLimit-Remaining': 0,
  'X-RateLimit-Reset': 1767713820,
  RateLimit: '"minute";r=0;t=42, "day";r=940;t=30222',
};
/** The refusals of an address, which has no day. */
const REFUSED_ADDRESS: typeof REFUSED = {
  ...REFUSED,
  'RateLimit-Policy': '"minute";q=60;w=60',
  RateLimit: '"minute";r=0;t=42',
};
const REFUSED_VISIT = {
  ...REFUSED_ADDRESS,
  'X-RateLimit-Limit': 600,
  'RateLimit-Policy': '"minute";q=600;w=60',
};
const REFUSED_BY_ADDRESS: Readonly<Record<string, typeof REFUSED>> = {
  getRateLimit: REFUSED_ADDRESS,
  getOpenApi: REFUSED_VISIT,
  getPostman: REFUSED_VISIT,
};

/** `codes` are those of the operations. A gateway that changes no record over REST has no code for such a change. */
export const errorSchema = ({ fields }: NounDescription, codes: ReadonlySet<ErrorCode>) => ({
  type: 'object',
  description: 'Any error.',
  required: ['code', 'message', 'status'],
  properties: {
    code: {
      type: 'string',
      enum: Object.keys(ERRORS).filter((code) => code !== 'precondition_failed' || codes.has(code)),
      description: 'Machine-readable error code.',
    },
    message: { type: 'string', description: 'Human-readable description.' },
    status: { type: 'integer', description: 'The HTTP status code.', examples: [400] },
    errors: {
      type: 'array',
      description: 'With status 400: the problem of each invalid field.',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: {
          field: {
            type: 'string',
            description: 'The field as it was sent.',
            examples: fields
              .filter((each) => each.isRequired)
              .slice(-1)
              .map((each) => each.name),
          },
          message: {
            type: 'string',
            description: 'The rule that the value breaks, and the start of the value.',
          },
        },
      },
    },
  },
});

const EVERY_RESPONSE = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/** The responses of operations, with examples of the nouns, and of the first one where that is enough. */
export class Responses {
  private readonly headers: Record<string, Header>;
  private readonly named = new Set<string>();
  /** Of the errors of the responses made so far. */
  readonly codes = new Set<ErrorCode>();

  constructor(
    readonly noun: NounDescription,
    private readonly examples: RestDocument['examples'],
    private readonly refusals: RestDocument['refusals'],
    private readonly names: OwnNames,
  ) {
    this.headers = headersOf(noun, names);
  }

  /** The headers that the responses made so far name. */
  get namedHeaders(): Record<string, Header> {
    return Object.fromEntries(Object.entries(this.headers).filter(([name]) => this.named.has(name)));
  }

  /** A response without an error. `names` are its headers beside those of every response; without a schema it has no body. */
  of(description: string, names: readonly string[], schema?: string): object {
    return {
      description,
      headers: this.references(names),
      ...(schema ? { content: this.json(schema) } : {}),
    };
  }

  /** A body of a schema, with examples. */
  json(schema: string): object {
    return { 'application/json': { schema: reference(schema), examples: this.examples[schema] } };
  }

  /** Each status has one response. Its description lists the possible codes, and each code has an example. */
  ofErrors(
    operationId: string,
    codes: readonly ErrorCode[],
    names: readonly string[] = [],
  ): Record<number, object> {
    for (const code of codes) this.codes.add(code);
    const statuses = [...new Set(codes.map((code) => ERRORS[code].status))];
    const exampleOf = (code: ErrorCode) => errorExample(this.noun, this.refusals, operationId, code);
    return Object.fromEntries(
      statuses.map((status) => {
        const ofStatus = codes.filter((code) => ERRORS[code].status === status);
        const examples = Object.fromEntries(ofStatus.map((code) => [code, exampleOf(code)]));
        return [
          status,
          {
            description: ofStatus.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join('\n\n'),
            headers: {
              ...this.references([...names, ...errorHeaderNames(status, codes, this.names)]),
              ...(status === 429 ? this.withExamples(REFUSED_BY_ADDRESS[operationId] ?? REFUSED) : {}),
            },
            content: { 'application/json': { schema: reference('Error'), examples } },
          },
        ];
      }),
    );
  }

  /** The headers of every response and those of `names`, as references. Throws for a header without a description. */
  private references(names: readonly string[]): object {
    const all = [...EVERY_RESPONSE, ...names];
    const unknown = all.filter((name) => !Object.hasOwn(this.headers, name));
    if (unknown.length > 0) throw new Error(`no description of the headers ${unknown.join(', ')}`);
    for (const name of all) this.named.add(name);
    return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  }

  /** Headers of their own, because a reference has no place for another example. */
  private withExamples(examples: typeof REFUSED): object {
    return Object.fromEntries(
      Object.entries(examples).map(([name, example]) => {
        const { description, schema } = this.headers[name] ?? {};
        return [name, { description, schema: { ...schema, examples: [example] } }];
      }),
    );
  }
}

function errorHeaderNames(status: number, codes: readonly ErrorCode[], { strikes }: OwnNames): string[] {
  if (status === 401) return ['WWW-Authenticate'];
  // Only a refusal that can lead to a ban makes a strike.
  if (status === 429 && codes.includes('key_banned')) return ['Retry-After', strikes];
  return status === 409 || status === 429 || status === 503 ? ['Retry-After'] : [];
}

function reference(schema: string): object {
  return { $ref: `#/components/schemas/${schema}` };
}
