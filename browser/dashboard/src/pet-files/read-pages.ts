import type { ApolloClient } from '@apollo/client';
import { paced, type Wait } from '../files/paced.js';
import {
  ExportPetsDocument,
  type ExportPetsQuery,
  type ExportPetsQueryVariables,
} from '../graphql/generated.js';
import type { PetSelection } from '../pets/pet-browsing.js';

type Pets = ExportPetsQuery['pets'];

interface Tools {
  signal: AbortSignal;
  onWait: (wait: Wait | null) => void;
}

/** Pets of a page; each page costs a unit. */
export const PAGE_SIZE = 100;

/** The pets of a list, oldest first, or by name. Ends after `maxPages`, so that pets which are added meanwhile cost nothing. */
export async function* readPages(
  client: ApolloClient,
  { status, nameStartsWith }: Omit<PetSelection, 'orderBy'>,
  { maxPages, ...tools }: Tools & { maxPages: number },
): AsyncGenerator<Pets['nodes']> {
  let after: string | null = null;
  for (let page = 1; ; page += 1) {
    const variables: ExportPetsQueryVariables = { status, nameStartsWith, after };
    const read = () => client.query({ query: ExportPetsDocument, variables, fetchPolicy: 'no-cache' });
    const { data }: { data?: ExportPetsQuery | undefined } = await paced(read, {
      ...tools,
      of: 'minute',
      units: 1,
    });
    if (!data) throw new Error('a response has data or an error');
    yield data.pets.nodes;
    if (!data.pets.pageInfo.hasNextPage || page >= maxPages) return;
    after = data.pets.pageInfo.endCursor ?? null;
  }
}
