import { Moment } from '../elements/moment.js';
import type { DiagnosisActor, DiagnosisPartsFragment, DiagnosisSeverity } from '../graphql/generated.js';

const ACTORS: Record<DiagnosisActor, string> = {
  OWNER: 'Whoever manages the DNS records',
  DNS_PROVIDER: 'The DNS provider',
  PLATFORM: 'Whoever runs this gateway',
  CERTIFICATE_AUTHORITY: 'The certificate authority',
  NOBODY: 'Nobody, it passes by itself',
};
const SEVERITIES: Record<DiagnosisSeverity, { word: string; tone: string }> = {
  ERROR: { word: 'Problem', tone: 'bad' },
  WARNING: { word: 'Warning', tone: 'warn' },
  INFO: { word: 'Good to know', tone: 'info' },
};

/** What is the case, what to do, who has to, and what it rests on. */
export function DiagnosisCard({ diagnosis }: { diagnosis: DiagnosisPartsFragment }) {
  const { code, severity, actor, cause, remedy, retryAt, evidence } = diagnosis;
  const { word, tone } = SEVERITIES[severity];
  return (
    <article className={`notice notice-${tone} diagnosis`}>
      <p className="notice-title">
        {word}: {cause}
      </p>
      <dl>
        <dt>What to do</dt>
        <dd>{remedy}</dd>
        <dt>Who must act</dt>
        <dd>{ACTORS[actor]}</dd>
        {retryAt && (
          <>
            <dt>Try again</dt>
            <dd>
              from <Moment at={retryAt} /> on
            </dd>
          </>
        )}
      </dl>
      <details>
        <summary>
          Evidence <code>{code}</code>
        </summary>
        {evidence.length === 0 && <p>No server’s answer: this follows from what the gateway knows itself.</p>}
        <ul className="evidence">
          {evidence.map(({ server, question, answer, ttl, at }) => (
            <li key={`${server} ${question} ${at} ${answer}`}>
              <p>
                <code>{server}</code> was asked <code>{question}</code>, <Moment at={at} />
              </p>
              <pre>
                {answer}
                {ttl === null ? '' : ` (TTL ${ttl} s)`}
              </pre>
            </li>
          ))}
        </ul>
      </details>
    </article>
  );
}
