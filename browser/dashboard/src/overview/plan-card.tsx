import { Moment } from '../elements/moment.js';
import { standing } from '../graphql/standing.js';
import { useSession } from '../session/signed-in.js';

const COUNT = new Intl.NumberFormat();

export function PlanCard() {
  const { project } = useSession();
  const known = standing.use();
  return (
    <section className="card" aria-labelledby="plan">
      <h2 id="plan">Plan</h2>
      <p className="figure">{project.plan.charAt(0) + project.plan.slice(1).toLowerCase()}</p>
      <dl>
        <dt>Requests</dt>
        <dd>
          {known
            ? `${COUNT.format(known.minute.limit)} a minute${known.day ? `, ${COUNT.format(known.day.limit)} a day` : ''}`
            : '…'}
        </dd>
        <dt>Custom domains</dt>
        <dd>{project.plan === 'FREE' ? 'from the plan Pro on' : 'included'}</dd>
        <dt>Project</dt>
        <dd>
          <code>{project.slug}</code>
        </dd>
        <dt>Published</dt>
        <dd>{project.publishedAt ? <Moment at={project.publishedAt} /> : 'not yet'}</dd>
      </dl>
    </section>
  );
}
