import type { Operation, Shapes } from './description.js';
import { ApiError, type ErrorDetails, type FieldProblem, Gone } from './errors.js';
import { parseJson } from './json.js';

/** Far above the largest page: a longer answer is not of the API. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
const SHOWN_CHARACTERS = 80;
/** A broken proxy may say anything; a time further ahead has no date. */
const LONGEST_WAIT_SECONDS = 1e9;

/** The body; throws `ApiError bad_answer` for one that is too long. */
export async function textOf(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += part.value;
    if (text.length <= MOST_CHARACTERS) continue;
    await reader?.cancel();
    throw badAnswer(response, `more than ${MOST_CHARACTERS} characters`);
  }
  return text;
}

/** The error that an answer is; undefined for a success. */
export function refusedBy(response: Response, text: string): ApiError | undefined {
  const { status, headers } = response;
  if (response.ok) return undefined;
  if (status < 400) {
    const to = headers.get('location') ?? 'another address';
    return new ApiError({
      ...about(response),
      code: 'redirected',
      message: `${response.url} redirects to ${to}: set baseUrl to the address that answers.`,
    });
  }
  const body = jsonIn(text);
  if (typeof body?.code !== 'string')
    return badAnswer(response, `no error of the API: ${startOf(text)}. Is baseUrl the address of the API?`);
  const details = { ...about(response), code: body.code, message: String(body.message), errors: body.errors };
  return status === 410 ? new Gone(details) : new ApiError(details);
}

/** The value of a successful answer. Throws `ApiError bad_answer` if it is not what the document says. */
export function answerOf(
  { response, text }: { response: Response; text: string },
  operation: Operation,
  shapes: Shapes,
): unknown {
  if (response.status === 204 || operation.isEmpty) return undefined;
  try {
    return parseJson(text, operation.answer, shapes);
  } catch (cause) {
    throw badAnswer(response, `not what the document says: ${startOf(text)}`, cause);
  }
}

function badAnswer(response: Response, problem: string, cause?: unknown): ApiError {
  const type = response.headers.get('content-type') ?? 'no type';
  const message = `${response.url} answered ${response.status} (${type}), ${problem}`;
  return new ApiError({ ...about(response), code: 'bad_answer', message, cause });
}

function about({ status, headers }: Response): Omit<ErrorDetails, 'code' | 'message'> {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    // A date, as some proxies send it, is read as none. 0 would repeat without an end.
    retryAfterSeconds: seconds >= 0 ? Math.min(Math.max(1, seconds), LONGEST_WAIT_SECONDS) : undefined,
  };
}

function startOf(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
}

function jsonIn(text: string): { code?: unknown; message?: unknown; errors?: FieldProblem[] } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
