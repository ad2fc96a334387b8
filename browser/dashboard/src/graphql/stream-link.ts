import { ApolloLink } from '@apollo/client';
import { print } from 'graphql';
import { Observable } from 'rxjs';
import { followStream, type StreamState } from '../../../result-stream.js';

/** Sends a subscription as a stream that resumes automatically. `onState` in the context of the operation hears its state. */
export const streamLink = new ApolloLink(({ query, variables, operationName, getContext }) => {
  const { headers, onState } = getContext() as {
    headers: Record<string, string>;
    onState?: (state: StreamState) => void;
  };
  const body = { query: print(query), variables, operationName };
  return new Observable((observer) =>
    followStream(
      { url: '/graphql', headers, body },
      {
        state: (state) => onState?.(state),
        next: (result) => observer.next(result),
        end: (refusal) => {
          if (refusal) observer.next(refusal);
          observer.complete();
        },
      },
    ),
  );
});
