import { Publish } from '../domains/publish.js';
import { CopyButton } from '../elements/copy-button.js';
import { Moment } from '../elements/moment.js';
import { Link } from '../routing/link.js';
import { useSession } from '../session/signed-in.js';

/** Where clients reach the project. `primaryUrl`: its primary custom domain; null = it has none that is served. */
export function Addresses({ primaryUrl }: { primaryUrl: string | null }) {
  const { project } = useSession();
  const addresses = [
    ...(primaryUrl === null ? [] : [{ name: 'Primary domain', url: primaryUrl }]),
    { name: 'GraphQL', url: project.graphqlUrl },
    { name: 'REST', url: project.apiUrl },
    { name: 'Generated address', url: project.url },
  ];
  return (
    <section className="card" aria-labelledby="addresses">
      <h2 id="addresses">Base addresses</h2>
      <ul className="addresses">
        {addresses.map(({ name, url }) => (
          <li key={name}>
            <span className="label">{name}</span>
            <code>{url}</code>
            <CopyButton text={url} what={`the ${name} address`} />
          </li>
        ))}
      </ul>
      <p className="muted">
        {project.publishedAt ? (
          <>
            Published <Moment at={project.publishedAt} />.{' '}
          </>
        ) : (
          'Not published yet. '
        )}
        {primaryUrl !== null ? (
          <>
            Its own domains serve <code>/v1</code> and <code>/graphql</code>, too.
          </>
        ) : project.plan === 'FREE' ? (
          'A domain of your own needs the plan Pro or above.'
        ) : (
          <Link to="/settings/domains">Use your own domain</Link>
        )}
      </p>
      <Publish />
    </section>
  );
}
