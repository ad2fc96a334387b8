/** Spec: getPet, Versioning 2. The single source for REST's headers, OpenAPI, the GraphQL schema and the sunset. D-18. */
export const GET_PET_DEPRECATION = {
  deprecatedAtMs: Date.UTC(2025, 11, 5),
  sunsetAtMs: Date.UTC(2030, 11, 5),
  sunsetDate: '2030-12-05',
  graphqlReason: 'Removed on 2030-12-05. Use `pets(ids: […])`.',
} as const;
