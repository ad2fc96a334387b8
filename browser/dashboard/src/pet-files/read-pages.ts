import type { ApolloClient } from '@apollo/client';
import { paced, type Wait } from '../files/paced.js';
import {
  ExportPetsDocument,
  type ExportPetsQuery,
  type ExportPetsQueryVariables,
} from '../graphql/generated.js';
import type { PetSelection } from '../pets/pet-browsing.js';

type Pets = ExportPetsQuery['pets'];

interface Page {
  pets: Pets['nodes'];
  /** How much of the list was read, from 0 to 1; null = not known. */
  share: number | null;
}

interface Tools {
  signal: AbortSignal;
  onWait: (wait: Wait | null) => void;
}

const PAGE_SIZE = 100;

/**
 * The pets of a list, oldest first, or by name. The newest pet at the start is the last one, so that it ends although pets
 * are added meanwhile.
 */
export async function* readPages(
  client: ApolloClient,
  list: Omit<PetSelection, 'orderBy'>,
  tools: Tools,
): AsyncGenerator<Page> {
  const read = async (wanted: Omit<ExportPetsQueryVariables, 'status' | 'nameStartsWith'>): Promise<Pets> => {
    const variables = { ...list, ...wanted };
    const { data } = await paced(
      () => client.query({ query: ExportPetsDocument, variables, fetchPolicy: 'no-cache' }),
      { ...tools, of: 'minute', units: 1 },
    );
    if (!data) throw new Error('a response has data or an error');
    return data.pets;
  };
  const isById = list.nameStartsWith === null;
  const newestId = isById ? (await read({ first: 1, orderBy: 'NEWEST' })).nodes[0]?.id : undefined;
  if (isById && newestId === undefined) return;
  let oldestId: string | undefined;
  for (let after: string | null = null; ; ) {
    const { nodes, pageInfo }: Pets = await read({ first: PAGE_SIZE, after, orderBy: 'OLDEST' });
    const pets = newestId === undefined ? nodes : nodes.filter(({ id }) => BigInt(id) <= BigInt(newestId));
    oldestId ??= pets[0]?.id;
    const lastId = pets.at(-1)?.id;
    yield { pets, share: newestId && oldestId && lastId ? shareOf(oldestId, lastId, newestId) : null };
    if (!pageInfo.hasNextPage || pets.length < nodes.length) return;
    after = pageInfo.endCursor;
  }
}

/** Ids rise with the time of creation, so they tell how far the export is; the number of pets is not known before. */
function shareOf(oldestId: string, lastId: string, newestId: string): number {
  const all = BigInt(newestId) - BigInt(oldestId);
  return all === 0n ? 1 : Number(((BigInt(lastId) - BigInt(oldestId)) * 1_000n) / all) / 1_000;
}
