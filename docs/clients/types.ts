/** A generator writes such types: /v1/docs/clients#types. */
export type List = { pets: { changesCursor: string } };
export type Change = {
  petChanges: { cursor: string; kind: string; pet: { id: string; name: string } };
};
export type Pets = {
  pets: {
    edges: { node: { id: string; name: string } }[];
    pageInfo: { hasNextPage: boolean; endCursor: string };
  };
};
