import { buildSchema, type GraphQLSchema } from 'graphql';
import { rest } from '../../../src/testing/http-client.js';

export { graphql, rest } from '../../../src/testing/http-client.js';

/** The schema that the gateway serves, with the directives of its fields. */
export async function servedSchema(url: string): Promise<GraphQLSchema> {
  return buildSchema((await rest(url, '/schema.graphql')).text);
}
