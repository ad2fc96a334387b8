import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { Notice } from '../elements/notice.js';
import { tellDone } from '../elements/toaster.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { type DomainSummaryFragment, DomainsDocument, SetDomainsDocument } from '../graphql/generated.js';
import { inputOf, planOf, type RoutingPlan, withRedirect } from './routing-plan.js';
import { routingProblems } from './routing-problems.js';
import { RoutingRow } from './routing-row.js';

interface Props {
  domains: readonly DomainSummaryFragment[];
}

/** Primary domain and redirects: a dry run shows the effects before anything changes. */
export function RoutingEditor({ domains }: Props) {
  const [draft, setDraft] = useState<RoutingPlan | null>(null);
  const plan = draft ?? planOf(domains);
  const [set, { data, loading, error, reset }] = useMutation(SetDomainsDocument);
  const change = (next: RoutingPlan) => {
    setDraft(next);
    reset();
  };
  const send = async (dryRun: boolean) => {
    const refetchQueries = dryRun ? [] : [DomainsDocument];
    const options = {
      variables: { input: inputOf(plan), dryRun },
      refetchQueries,
      awaitRefetchQueries: true,
    };
    const sent = await set(options).catch(() => null);
    if (!sent?.data?.setDomains.applied) return;
    setDraft(null);
    tellDone('Saved the primary domain and redirects');
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send(true);
  };
  const answer = data?.setDomains;
  const problems = routingProblems(error, plan);
  const isExplained = problems.primary !== null || Object.keys(problems.hosts).length > 0;
  const { isBlocked, countdown } = useBlock(error);
  const isPreviewed = answer !== undefined && !answer.applied;

  return (
    <section className="card" aria-labelledby="routing">
      <h2 id="routing">Primary domain and redirects</h2>
      <form onSubmit={submit}>
        <div className="field">
          <label htmlFor="primary">Primary domain</label>
          <select
            id="primary"
            aria-describedby="primary-use"
            aria-invalid={problems.primary !== null}
            value={plan.primary}
            onChange={(event) => change({ ...plan, primary: event.target.value })}
          >
            <option value="">None</option>
            {domains.map(({ id, hostname }) => (
              <option key={id}>{hostname}</option>
            ))}
          </select>
          <p className="hint" id="primary-use">
            The address of the project that you give to people. The overview shows it, and GET responses at
            the project’s other addresses name it in <code>Link: …; rel="canonical"</code>. The other domains
            keep working.
          </p>
          {problems.primary !== null && (
            <p className="problem" role="alert">
              {problems.primary}
            </p>
          )}
        </div>
        <fieldset>
          <legend>What each domain does</legend>
          {domains.map(({ id, hostname }) => (
            <RoutingRow
              key={id}
              hostname={hostname}
              others={domains.map((domain) => domain.hostname).filter((other) => other !== hostname)}
              redirect={plan.redirects[hostname] ?? null}
              problem={problems.hosts[hostname] ?? null}
              onChange={(to, status) => change(withRedirect(plan, hostname, to, status))}
            />
          ))}
        </fieldset>
        {error && !isExplained && <ErrorNotice error={error} />}
        <div role="status">
          {answer && (
            <Notice
              tone={answer.applied ? 'good' : 'info'}
              title={answer.applied ? 'Active now:' : 'This would happen:'}
            >
              <ul className="effects">
                {answer.effects.map(({ hostname, example }) => (
                  <li key={hostname}>
                    <code>{example}</code>
                  </li>
                ))}
              </ul>
            </Notice>
          )}
        </div>
        <div className="actions">
          <button
            type="submit"
            disabled={loading || isBlocked}
            className={isPreviewed ? undefined : 'primary'}
          >
            {loading ? 'Checking…' : 'Preview'}
            {countdown}
          </button>
          {isPreviewed && (
            <button type="button" className="primary" disabled={loading} onClick={() => void send(false)}>
              Apply
            </button>
          )}
          {draft && (
            <button
              type="button"
              onClick={() => {
                setDraft(null);
                reset();
              }}
            >
              Discard changes
            </button>
          )}
        </div>
      </form>
    </section>
  );
}
