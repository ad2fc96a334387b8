import { graphql } from 'relay-runtime';

export const LIST = graphql`
  query relayListQuery($count: Int!, $after: String) {
    pets(first: $count, after: $after) @connection(key: "relay_pets") {
      edges {
        node {
          id
          name
          categoryId
          status
        }
      }
    }
  }
`;
export const ADD = graphql`
  mutation relayAddMutation($input: NewPet!) {
    createPet(input: $input) {
      id
      name
      categoryId
    }
  }
`;
