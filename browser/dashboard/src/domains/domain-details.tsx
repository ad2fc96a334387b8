import { useMutation } from '@apollo/client/react';
import { Moment } from '../elements/moment.js';
import { ErrorNotice } from '../errors/error-notice.js';
import {
  type DomainDetailFragment,
  ReverifyDomainDocument,
  type ReverifyDomainMutation,
  VerifyDomainDocument,
  type VerifyDomainMutation,
} from '../graphql/generated.js';
import { useSession } from '../session/signed-in.js';
import { CertificateCard } from './certificate-card.js';
import { DiagnosisCard } from './diagnosis-card.js';
import { DnsLetter } from './dns-letter.js';
import { NoTarget } from './domain-conditions.js';
import { DomainStatusBadge } from './domain-status-badge.js';
import { ProgressSteps } from './progress-steps.js';
import { RecordTable } from './record-table.js';
import { STATUS_IN_WORDS } from './status-in-words.js';
import { Timeline } from './timeline.js';

export function DomainDetails({ domain }: { domain: DomainDetailFragment }) {
  const { project } = useSession();
  const variables = { id: domain.id };
  const { sentence, steps } = STATUS_IN_WORDS[domain.status];
  const isVerified = steps[0] === 'done';
  // Spec: Custom domains 7 names the button Verify; 9 names it Re-verify when only the certificate is missing.
  const lacksCertificate = isVerified && steps[2] === 'waiting';
  const [verify, { loading, error }] = useMutation<VerifyDomainMutation | ReverifyDomainMutation>(
    lacksCertificate ? ReverifyDomainDocument : VerifyDomainDocument,
    { variables },
  );
  return (
    <div className="columns">
      <div>
        <section className="card" aria-label="Progress">
          <ProgressSteps steps={steps} />
          <div role="status" className="status-line">
            <DomainStatusBadge status={domain.status} /> <span>{sentence}</span>
          </div>
          <div className="actions">
            <button
              type="button"
              className={isVerified ? undefined : 'primary'}
              disabled={loading}
              onClick={() => void verify().catch(() => {})}
            >
              {loading ? 'Checking DNS…' : lacksCertificate ? 'Re-verify' : 'Verify'}
            </button>
            <span className="muted">
              {domain.checkedAt ? (
                <>
                  DNS last checked <Moment at={domain.checkedAt} />
                </>
              ) : (
                'DNS not checked yet'
              )}
            </span>
          </div>
          {lacksCertificate && (
            <p className="hint">
              Re-verify checks DNS and orders a certificate at once. Choose it if none has appeared after 30
              minutes.
            </p>
          )}
          {error && <ErrorNotice error={error} />}
        </section>
        {domain.diagnoses.length > 0 && (
          <section className="findings" aria-labelledby="findings">
            <h2 id="findings">Findings</h2>
            {domain.diagnoses.map((diagnosis) => (
              <DiagnosisCard key={`${diagnosis.code} ${diagnosis.cause}`} diagnosis={diagnosis} />
            ))}
          </section>
        )}
        {domain.instructions.length > 0 && (
          <section className="card" aria-labelledby="records">
            <h2 id="records">DNS records to create</h2>
            {project.domainTarget === null ? (
              <NoTarget />
            ) : (
              <>
                <RecordTable records={domain.instructions} />
                <p className="hint">
                  Most providers append the domain to the name automatically: give them the short one. Most
                  changes are visible within minutes; some take up to 48 hours.
                </p>
                <DnsLetter domain={domain} />
              </>
            )}
          </section>
        )}
        {domain.certificate && <CertificateCard certificate={domain.certificate} />}
      </div>
      <div>
        <Timeline events={domain.timeline} />
      </div>
    </div>
  );
}
