import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../../ground/kernel/errors.js';

/** The forms of an error at both doors. */
export interface ErrorForms {
  rest(error: AppError): string;
  graphql(error: AppError): string;
  headers(error: AppError): Record<string, string>;
  /** Headers that let this origin read the answer. */
  ofOrigin(origin: string | undefined): readonly string[];
}

interface Answer {
  head: readonly string[];
  body: string;
}

const SECONDS = [1, 2, 3] as const;
const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** Writes the 503 of a refused request. Everything constant is made once, because a flood is refused with it. */
export class Refusal {
  private readonly answers: Record<'rest' | 'graphql' | 'graphqlResponse', readonly Answer[]>;

  constructor(
    private readonly forms: ErrorForms,
    private readonly random: () => number,
  ) {
    const answers = (form: 'rest' | 'graphql', type: string) =>
      SECONDS.map((retryAfterSeconds) => answerOf(forms, form, type, retryAfterSeconds));
    this.answers = {
      rest: answers('rest', JSON_TYPE),
      graphql: answers('graphql', JSON_TYPE),
      graphqlResponse: answers('graphql', GRAPHQL_TYPE),
    };
  }

  write({ headers }: IncomingMessage, response: ServerResponse, isGraphQL: boolean): void {
    const prefersNewer = isGraphQL && headers.accept?.includes(GRAPHQL_TYPE);
    const form = prefersNewer ? 'graphqlResponse' : isGraphQL ? 'graphql' : 'rest';
    // Jittered, so that the refused clients do not return all at once.
    const { head, body } = this.answers[form][Math.floor(this.random() * SECONDS.length)] as Answer;
    const ofOrigin = this.forms.ofOrigin(headers.origin);
    response.writeHead(503, [...head, 'x-request-id', randomUUID(), ...ofOrigin]).end(body);
  }
}

function answerOf(
  forms: ErrorForms,
  form: 'rest' | 'graphql',
  type: string,
  retryAfterSeconds: number,
): Answer {
  const message = 'The gateway has too many requests at the moment. Try again after the time in Retry-After.';
  const error = new AppError('unavailable', message, { retryAfterSeconds });
  const body = forms[form](error);
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'content-length': String(Buffer.byteLength(body)),
    'x-content-type-options': 'nosniff',
    ...forms.headers(error),
  };
  return { head: Object.entries(headers).flat(), body };
}
