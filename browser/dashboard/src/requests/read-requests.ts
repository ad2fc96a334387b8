import type { ApolloClient } from '@apollo/client';
import { RequestLogDocument, type RequestLogQueryVariables } from '../graphql/generated.js';
import type { RequestPage } from './newest-page.js';

/** Reads a page of the log. Not from the cache, where pages would only grow: each look needs the present one. */
export async function readRequests(
  client: ApolloClient,
  variables: RequestLogQueryVariables,
): Promise<RequestPage> {
  const { data } = await client.query({ query: RequestLogDocument, variables, fetchPolicy: 'no-cache' });
  if (!data) throw new Error('a response has data or an error');
  return data.project.requests;
}
