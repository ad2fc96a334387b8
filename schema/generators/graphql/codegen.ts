import { graphql } from '../out/codegen/index.js';

export const ADD = graphql(`
  mutation Add($input: NewPet!) {
    createPet(input: $input) {
      id
      name
      categoryId
    }
  }
`);
export const LIST = graphql(`
  query List($after: String) {
    pets(first: 5, after: $after, orderBy: NEWEST) {
      nodes {
        id
        name
        categoryId
        status
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`);
