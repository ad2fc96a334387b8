/** The query that Apollo Sandbox opens with. */
export const DEMO_QUERY = `query FirstPets {
  pets(first: 5, status: available) {
    nodes { id name status }
    pageInfo { hasNextPage endCursor }
  }
  project { slug plan }
}
`;
