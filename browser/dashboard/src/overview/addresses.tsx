import { CopyButton } from '../elements/copy-button.js';
import { useSession } from '../session/signed-in.js';

export function Addresses() {
  const { project } = useSession();
  const addresses = [
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
    </section>
  );
}
