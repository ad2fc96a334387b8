import { defaultFieldResolver, type GraphQLSchema } from 'graphql';
import type { PubSub } from 'type-graphql';

const replaced = (): never => {
  throw new Error('`subscribeByMethod` replaces this source.');
};

/** An event of a stream, of which `cursor` is the position behind it; null = the stream has no positions. */
export interface StreamEvent {
  readonly cursor: string | null;
}

interface EventStream<Event> {
  /** Behind everything that was examined. */
  readonly cursor: string | null;
  /** Called when there may be events to take. */
  onWake: () => void;
  /** Empty = none yet. */
  take(): Promise<readonly Event[]>;
  stop(): void;
}

/** The source of a subscription. `subscribeByMethod` gets it from the method of the field. */
export class StreamSource<Event extends StreamEvent = StreamEvent> {
  constructor(
    readonly stream: EventStream<Event>,
    /** Returns the value of the field. */
    readonly present: (event: Event) => unknown,
  ) {}

  /** graphql accepts only what can be iterated. `LiveStream` takes the events itself. */
  readonly [Symbol.asyncIterator] = replaced;
}

/** Options of a subscription whose method returns its source of events. type-graphql asks for another source here. */
export const BY_SOURCE = { subscribe: replaced };

/** type-graphql makes no subscription without one. */
export const NO_PUB_SUB: PubSub = { publish() {}, subscribe: replaced };

/** The method of each subscription makes its source, and each of the source's events is a value of its field. */
export function subscribeByMethod(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getSubscriptionType()?.getFields() ?? {})) {
    field.subscribe = field.resolve ?? defaultFieldResolver;
    field.resolve = (event) => event;
  }
}
