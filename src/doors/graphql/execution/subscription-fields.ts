import { defaultFieldResolver, type GraphQLSchema } from 'graphql';
import type { PubSub } from 'type-graphql';

const replaced = (): never => {
  throw new Error('`subscribeByMethod` replaces this source.');
};

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
