/** The words about a pet in texts, files and pages. Plain data without imports: the build of `browser/` reads it too. */
export const PET = {
  singular: 'pet',
  plural: 'pets',
  type: 'Pet',
  withArticle: 'a pet',
  icon: 'paw',
  headline: 'A typed, metered API in front of a pet store',
  fields: [
    { name: 'name', label: 'Name', kind: 'text', isRequired: true, maxLength: 255, example: 'Rex' },
    {
      name: 'categoryId',
      label: 'Category',
      kind: 'int64',
      isRequired: true,
      hint: 'The number of its category.',
      example: '3',
    },
    {
      name: 'status',
      label: 'Status',
      kind: 'choice',
      isRequired: false,
      choices: ['available', 'pending', 'sold'],
      tones: ['good', 'busy', 'idle'],
      example: 'available',
    },
  ],
  filters: [
    { argument: 'nameStartsWith', field: 'name', match: 'start' },
    { argument: 'status', field: 'status', match: 'whole' },
  ],
  hasCount: true,
  hasChanges: true,
  examples: [
    {
      task: 'List pets',
      query: `query ListPets($status: PetStatus, $after: String) {
  pets(first: 10, status: $status, after: $after) {
    nodes { id name categoryId status createdAt }
    pageInfo { hasNextPage endCursor }
  }
}
`,
      variables: { status: 'available', after: null },
    },
    {
      task: 'Add a pet',
      query: `mutation AddPet($pet: NewPet!) {
  createPet(input: $pet) { id name categoryId status createdAt }
}
`,
      variables: { pet: { name: 'Rex', categoryId: '3', status: 'available' } },
    },
    {
      task: 'Change a pet',
      query: `mutation ChangePet($id: ID!, $changes: PetChanges!) {
  updatePet(id: $id, input: $changes) { id name status }
}
`,
      variables: { id: '<id of a pet>', changes: { status: 'sold' } },
    },
    {
      task: 'Follow changes of pets',
      query: `subscription FollowPets($status: PetStatus, $after: String) {
  petChanges(status: $status, after: $after) {
    cursor
    kind
    at
    pet { id name status }
  }
}
`,
      variables: { status: null, after: null },
    },
  ],
} as const;
