import { ERRORS, type ErrorCode } from '../../../kernel/errors.js';
import { codeBlock } from '../../pages/code-block.js';
import { html } from '../../pages/html.js';
import { inline } from '../parts/schema-fields.js';
import type { Guide } from './guide.js';

/** The remedy of the client for each code. */
const REMEDIES: Record<ErrorCode, string> = {
  invalid_request: 'Correct the fields that `errors` names. The same request fails again.',
  unauthorized:
    'Check the `Authorization` header, then the key: it may be revoked or expired. Create or roll a key.',
  plan_required: 'Ask the owner of the project for a higher plan.',
  forbidden: 'Use a key that has the scope which the message names.',
  not_found: 'Check the id and the path. Another project’s pets do not exist for your key.',
  method_not_allowed: 'Use one of the methods in the `Allow` header.',
  not_acceptable: 'Send `Accept: application/json`, or no `Accept` header.',
  conflict: 'Wait for `Retry-After` if there is one, then repeat; otherwise follow the message.',
  not_published: 'Publish the project once, then add the domain.',
  gone: 'Use the replacement that the `Link` header names.',
  payload_too_large: 'Send less in one request.',
  unsupported_media_type: 'Send `Content-Type: application/json`.',
  misdirected: 'Check the host name; a removed domain is not served any more.',
  idempotency_mismatch: 'Use a new key for a new request, or repeat the first one unchanged.',
  rate_limited_minute: 'Wait for `Retry-After`, and back off exponentially.',
  rate_limited_day: 'Wait for `Retry-After`, or ask for a higher plan.',
  key_banned: 'Stop sending until `Retry-After` is over. Make the client wait after a 429.',
  field_rate_limited: 'Wait for `Retry-After` before you use this field again.',
  internal:
    'Repeat a read; repeat a write only with an Idempotency-Key. If it stays, report the `X-Request-Id`.',
  unavailable: 'Repeat after `Retry-After`; a write only with an Idempotency-Key.',
};

export const ERROR_GUIDE: Guide = {
  slug: 'errors',
  title: 'Errors',
  lead: 'Every error has the same body. Its code is for programs, its message for people.',
  sections: () => [
    {
      id: 'body',
      title: 'The body of an error',
      body: html`${codeBlock({
        label: 'Answer 400',
        language: 'json',
        text: JSON.stringify(
          {
            code: 'invalid_request',
            message: 'limit must be a whole number from 1 to 100',
            status: 400,
            errors: [{ field: 'limit', message: 'must be a whole number from 1 to 100' }],
          },
          null,
          2,
        ),
      })}
<p>Decide by <code>code</code>: a code never changes its meaning, a message may be improved. <code>errors</code> exists only with <code>400</code>. GraphQL sends the same in <code>errors[].extensions</code>, with the code in upper case.</p>`,
    },
    {
      id: 'request-id',
      title: 'The request id',
      body: html`<p>Every answer has an <code>X-Request-Id</code>. The gateway's log has it too: name it when you report a problem.</p>`,
    },
    {
      id: 'repeat',
      title: 'Which errors to repeat',
      body: html`<p>Repeat <code>429</code> and <code>503</code> after their <code>Retry-After</code>, and <code>409</code> if it has one. Repeat <code>500</code> and broken connections with growing pauses, and a write only with an <a href="/v1/docs/idempotency">Idempotency-Key</a>. Every other error comes back until the request changes.</p>`,
    },
    {
      id: 'codes',
      title: 'All codes',
      body: html`<dl class="codes">
${Object.entries(ERRORS).map(
  ([
    code,
    { status, when },
  ]) => html`<div id="${code}" class="field-row"><dt><code>${code}</code> <span class="status status-${String(status).slice(0, 1)}">${status}</span></dt>
<dd><p>${inline(when)}</p><p class="remedy"><strong>What to do:</strong> ${inline(REMEDIES[code as ErrorCode])}</p></dd></div>
`,
)}</dl>`,
    },
  ],
};
