import { CircleAlert, Info, type LucideIcon, TriangleAlert } from 'lucide-react';
import { Moment } from '../elements/moment.js';
import type { DiagnosisActor, DiagnosisPartsFragment, DiagnosisSeverity } from '../graphql/generated.js';

const ACTORS: Record<DiagnosisActor, string> = {
  OWNER: 'The administrator of the DNS records',
  DNS_PROVIDER: 'The DNS provider',
  PLATFORM: 'The operator of this gateway',
  CERTIFICATE_AUTHORITY: 'The certificate authority',
  NOBODY: 'Nobody, it ends automatically',
};
const SEVERITIES: Record<DiagnosisSeverity, { word: string; tone: string; icon: LucideIcon }> = {
  ERROR: { word: 'Problem', tone: 'bad', icon: CircleAlert },
  WARNING: { word: 'Warning', tone: 'warn', icon: TriangleAlert },
  INFO: { word: 'Note', tone: 'info', icon: Info },
};

/** A finding: its cause, its remedy, the party that must act, and the evidence. */
export function DiagnosisCard({ diagnosis }: { diagnosis: DiagnosisPartsFragment }) {
  const { code, severity, actor, cause, remedy, retryAt, evidence } = diagnosis;
  const { word, tone, icon: Icon } = SEVERITIES[severity];
  return (
    <article className={`notice notice-${tone} diagnosis`}>
      <Icon size={18} className="notice-mark" aria-hidden="true" />
      <div className="notice-text">
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
                after <Moment at={retryAt} />
              </dd>
            </>
          )}
        </dl>
        <details>
          <summary>
            Evidence <code>{code}</code>
          </summary>
          {evidence.length === 0 && <p>No server’s answer: this follows from the gateway’s own data.</p>}
          <ul className="evidence">
            {evidence.map(({ server, question, answer, ttl, at }) => (
              <li key={`${server} ${question} ${at} ${answer}`}>
                <p>
                  <code>{server}</code> was asked <code>{question}</code>, <Moment at={at} />
                </p>
                <pre>
                  {answer}
                  {ttl === null ? '' : ` (TTL\u00a0${ttl}\u00a0s)`}
                </pre>
              </li>
            ))}
          </ul>
        </details>
      </div>
    </article>
  );
}
