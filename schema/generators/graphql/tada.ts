import { initGraphQLTada, type ResultOf, type VariablesOf } from 'gql.tada';
import type { introspection } from '../out/tada.js';

const graphql = initGraphQLTada<{ introspection: introspection }>();

const ADD = graphql(`
  mutation Add($input: NewPet!) {
    createPet(input: $input) {
      id
      name
      categoryId
    }
  }
`);

// Each int64 is a string: no type lets a digit be lost.
type Exact<T extends string> = T;
export type CategoryId = Exact<ResultOf<typeof ADD>['createPet']['categoryId']>;
export type Sent = VariablesOf<typeof ADD>['input'];
