import { type DocumentNode, getOperationAST } from 'graphql';
import {
  followStream,
  type StreamedResult,
  type StreamRequest,
  type StreamState,
} from '../../result-stream.js';

/** The state of a running subscription, and the number of its events. */
export interface Following {
  state: StreamState;
  events: number;
}

/** As GraphiQL subscribes to an operation. */
interface Observer {
  next(shown: object): void;
  complete(): void;
}

const MOST_SHOWN = 50;
/** Events of this time are shown together. */
const BATCH_MS = 100;

export function isSubscription(document: DocumentNode | undefined, name: string | null | undefined): boolean {
  return !!document && getOperationAST(document, name)?.operation === 'subscription';
}

/** Follows a subscription for GraphiQL, which shows the newest events first. `tell` hears null at the end. */
export function followed(request: StreamRequest, tell: (following: Following | null) => void) {
  const subscribe = ({ next, complete }: Observer) => {
    const results: StreamedResult[] = [];
    const following: Following = { state: { kind: 'connecting' }, events: 0 };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (refusal?: StreamedResult | null) => {
      clearTimeout(timer);
      timer = undefined;
      tell({ ...following });
      if (refusal) next(results.length === 0 ? refusal : { ...refusal, events: results });
      else if (following.state.kind === 'live') next({ events: results });
    };
    const close = followStream(request, {
      state: (state) => {
        following.state = state;
        show();
      },
      next: (result) => {
        following.events += 1;
        results.unshift(result);
        results.length = Math.min(results.length, MOST_SHOWN);
        timer ??= setTimeout(show, BATCH_MS);
      },
      end: (refusal) => {
        show(refusal);
        tell(null);
        complete();
      },
    });
    const unsubscribe = () => {
      close();
      clearTimeout(timer);
      tell(null);
    };
    return { unsubscribe };
  };
  return { subscribe };
}
