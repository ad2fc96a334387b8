import { ApolloClient, ApolloLink, InMemoryCache } from '@apollo/client';
import { BaseHttpLink } from '@apollo/client/link/http';
import { session } from '../session/session.js';
import { errorWatch } from './error-watch.js';
import { planPause } from './plan-pause.js';
import { standingWatch } from './standing.js';
import { streamLink } from './stream-link.js';

/** Every request goes to the GraphQL door with the session's key, and also asks for the remaining quota. */
const withKey = new ApolloLink((operation, forward) => {
  const { token } = session.get();
  operation.setContext(({ headers = {} }) => ({
    headers: {
      'apollographql-client-name': 'dashboard',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
  }));
  return forward(operation);
});

const http = new BaseHttpLink({ uri: '/graphql', includeExtensions: true, credentials: 'omit' });

export const client = new ApolloClient({
  link: ApolloLink.from([
    errorWatch,
    planPause,
    standingWatch,
    withKey,
    ApolloLink.split(({ operationType }) => operationType === 'subscription', streamLink, http),
  ]),
  cache: new InMemoryCache({
    typePolicies: {
      // A session has only one project; its fields come with different queries.
      Project: { keyFields: ['slug'] },
      // Always read and replaced as a whole.
      RateLimit: { keyFields: false },
    },
  }),
  devtools: { enabled: false },
});
