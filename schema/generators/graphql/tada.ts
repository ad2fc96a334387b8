import { initGraphQLTada } from 'gql.tada';
import type { introspection } from '../out/tada.js';

const graphql = initGraphQLTada<{ introspection: introspection }>();

export const ADD = graphql(`
  mutation Add($input: NewPet!) {
    createPet(input: $input) {
      id
      name
      categoryId
    }
  }
`);
