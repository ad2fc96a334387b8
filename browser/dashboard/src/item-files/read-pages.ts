import type { ApolloClient } from '@apollo/client';
import { paced, type Wait } from '../files/paced.js';
import { documentsOf, type ItemPage } from '../items/item-documents.js';
import { type Selection, variablesOf } from '../items/selection.js';

interface Tools {
  signal: AbortSignal;
  onWait: (wait: Wait | null) => void;
}

/** Items of a page; each page costs a unit. */
export const PAGE_SIZE = 100;

/** The items of a list, oldest first, or by a text. Ends after `maxPages`, so that items which are added meanwhile cost nothing. */
export async function* readPages(
  client: ApolloClient,
  selection: Selection,
  { maxPages, ...tools }: Tools & { maxPages: number },
): AsyncGenerator<ItemPage['nodes']> {
  const { exportPage: query } = documentsOf(selection.noun);
  let after: string | null = null;
  for (let page = 1; ; page += 1) {
    const variables: Record<string, unknown> = { first: PAGE_SIZE, after, ...variablesOf(selection) };
    const read = () => client.query({ query, variables, fetchPolicy: 'no-cache' });
    const { data }: { data?: { page: ItemPage } | undefined } = await paced(read, {
      ...tools,
      of: 'minute',
      units: 1,
    });
    if (!data) throw new Error('a response has data or an error');
    yield data.page.nodes;
    if (!data.page.pageInfo.hasNextPage || page >= maxPages) return;
    after = data.page.pageInfo.endCursor;
  }
}
