import { useMutation } from '@apollo/client/react';
import { Moment } from '../elements/moment.js';
import { ErrorNotice } from '../errors/error-notice.js';
import {
  type DomainDetailFragment,
  ReverifyDomainDocument,
  VerifyDomainDocument,
} from '../graphql/generated.js';
import { CertificateCard } from './certificate-card.js';
import { DiagnosisCard } from './diagnosis-card.js';
import { DnsLetter } from './dns-letter.js';
import { DomainStatusBadge } from './domain-status-badge.js';
import { ProgressSteps } from './progress-steps.js';
import { RecordTable } from './record-table.js';
import { STATUS_IN_WORDS } from './status-in-words.js';
import { Timeline } from './timeline.js';

export function DomainDetails({ domain }: { domain: DomainDetailFragment }) {
  const variables = { id: domain.id };
  const [verify, verifying] = useMutation(VerifyDomainDocument, { variables });
  const [reverify, reverifying] = useMutation(ReverifyDomainDocument, { variables });
  const { sentence, steps } = STATUS_IN_WORDS[domain.status];
  const isBusy = verifying.loading || reverifying.loading;
  const error = verifying.error ?? reverifying.error;
  const isDnsOpen = steps[0] !== 'done';
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
              className={isDnsOpen ? 'primary' : undefined}
              disabled={isBusy}
              onClick={() => void verify().catch(() => {})}
            >
              {verifying.loading ? 'Checking DNS…' : 'Verify'}
            </button>
            {domain.status !== 'ACTIVE' && (
              <button type="button" disabled={isBusy} onClick={() => void reverify().catch(() => {})}>
                {reverifying.loading ? 'Starting a new attempt…' : 'Re-verify'}
              </button>
            )}
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
          {domain.status !== 'ACTIVE' && (
            <p className="hint">
              Verify checks DNS now. Re-verify also orders a certificate at once: use it if no certificate has
              appeared after 30 minutes.
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
            <RecordTable records={domain.instructions} />
            <p className="hint">
              Most providers append the domain to the name automatically: give them the short one. Most
              changes are visible within minutes; some take up to 48 hours.
            </p>
            <DnsLetter domain={domain} />
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
