import { Moment } from '../elements/moment.js';
import type { StrikingClientPartsFragment } from '../graphql/generated.js';
import { nameOf, recipeOf } from './recipe.js';

/** Which clients do not pause after a 429, and how to mend each. */
export function KeyStrikes({ clients }: { clients: readonly StrikingClientPartsFragment[] }) {
  if (clients.length === 0) return null;
  return (
    <ul className="key-strikes" aria-label="Clients with strikes">
      {clients.map(({ client, strikes, lastAt }) => {
        const recipe = recipeOf(client);
        return (
          <li key={client}>
            {strikes === 1 ? '1 strike' : `${strikes} strikes`} by <bdi title={client}>{nameOf(client)}</bdi>,{' '}
            <Moment at={lastAt} />
            <span className="muted">
              It did not wait: <a href={recipe.href}>{recipe.name}</a>
            </span>
          </li>
        );
      })}
    </ul>
  );
}
