import { Publish } from '../domains/publish.js';
import { CopyButton } from '../elements/copy-button.js';
import { exactTime } from '../elements/exact-time.js';
import type { RequestFilter, RequestPartsFragment } from '../graphql/generated.js';
import { Link } from '../routing/link.js';
import { codeInWords } from './code-in-words.js';
import { requestsPath } from './request-filter.js';
import { answerName, DOOR_NAMES, durationInWords } from './request-names.js';

/** The facts about a request, the meaning of its outcome, and links to similar requests. */
export function RequestDetails({ request }: { request: RequestPartsFragment }) {
  const { at, requestId, door, operation, status, code, outcome, durationMs, units } = request;
  const { keyId, keyName, keyPrefix } = request;
  const name = answerName(request);
  const { meaning, remedy } = codeInWords(request);
  const similar: { text: string; filter: RequestFilter }[] = [
    { text: `Status ${status}`, filter: { status } },
    { text: 'This operation', filter: { operation } },
    { text: 'This key', filter: { keyId } },
    ...(outcome === 'OK'
      ? []
      : [{ text: `This key and operation, status ${status}`, filter: { keyId, operation, status } }]),
    { text: 'This request', filter: { requestId } },
  ];
  return (
    <div className="request-details">
      <section>
        <h2>
          {code === name ? <code>{code}</code> : name} {code && code !== name && <code>{code}</code>}
        </h2>
        <p>{meaning}</p>
        {remedy && <p>{remedy}</p>}
        {code === 'NOT_PUBLISHED' && <Publish />}
        <h3>Show only</h3>
        <ul className="similar">
          {similar.map(({ text, filter }) => (
            <li key={text}>
              <Link to={requestsPath(filter)}>{text}</Link>
            </li>
          ))}
        </ul>
      </section>
      <dl>
        <dt>Request id</dt>
        <dd className="copyable">
          <code>{requestId}</code>
          <CopyButton text={requestId} what="the request id" />
        </dd>
        <dt>Answered</dt>
        <dd>
          <time dateTime={at}>{exactTime(at)}</time>
        </dd>
        <dt>HTTP status</dt>
        <dd>{status}</dd>
        <dt>Duration</dt>
        <dd>{durationInWords(durationMs)}</dd>
        <dt>Operation</dt>
        <dd>
          <code>{operation}</code> ({DOOR_NAMES[door]})
        </dd>
        <dt>API key</dt>
        <dd>
          <bdi>{keyName}</bdi> <code>{keyPrefix}…</code>
        </dd>
        <dt>Spent</dt>
        <dd>
          {units === 0
            ? 'nothing of the plan'
            : units === 1
              ? '1 unit of the plan'
              : `${units} units of the plan`}
        </dd>
      </dl>
    </div>
  );
}
