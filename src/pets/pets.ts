import { defineNoun } from '../noun/define-noun.js';
import { choice } from '../noun/kinds/choice.js';
import { int64 } from '../noun/kinds/int64.js';
import { text } from '../noun/kinds/text.js';

/** Pets: the example noun of the platform. Spec: listPets, createPet, getPet. */
export const pets = defineNoun({
  name: 'pet',
  icon: 'paw',
  headline: 'A typed, metered API in front of a pet store',
  fields: {
    name: text({
      max: 255,
      filter: 'start',
      example: 'Rex',
      words: { start: '`Re` for Rex and Reto' },
    }),
    categoryId: int64({
      label: 'Category',
      description: 'Identifier of the category the pet belongs to.',
      hint: 'The number of its category.',
      example: 3n,
      words: { input: 'Identifier of its category' },
    }),
    /** SPEC states no default. */
    status: choice(
      {
        available: 'Can be adopted.',
        pending: 'An adoption is in progress.',
        sold: 'Has been adopted.',
      },
      {
        optional: true,
        filter: true,
        description: 'Availability status.',
        tones: ['good', 'busy', 'idle'],
        words: { input: 'Its availability status' },
      },
    ),
  },
  count: true,
  changes: true,
  migrations: async () => [(await import('./pets.migration.js')).Pets1780000001000],
  // SPEC deprecates it: its form has a sunset.
  get: 'own',
  own: async () => ({ ...(await import('./get-pet.js')), ...(await import('./pets.document.js')) }),
  inputExamples: { create: '{name: "Rex", categoryId: "1", status: available}', change: '{status: sold}' },
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
  demo: [
    { name: 'Bella', categoryId: 1n, status: 'available' },
    { name: 'Max', categoryId: 1n, status: 'available' },
    { name: 'Luna', categoryId: 2n, status: 'available' },
    { name: 'Charlie', categoryId: 1n, status: 'pending' },
    { name: 'Oliver', categoryId: 2n, status: 'available' },
    { name: 'Daisy', categoryId: 1n, status: 'sold' },
    { name: 'Milo', categoryId: 2n, status: 'available' },
    { name: 'Rosie', categoryId: 3n, status: 'available' },
    { name: 'Coco', categoryId: 4n, status: 'available' },
    { name: 'Buddy', categoryId: 1n, status: 'sold' },
    { name: 'Nala', categoryId: 2n, status: 'pending' },
    { name: 'Rocky', categoryId: 1n, status: 'available' },
    { name: 'Pepper', categoryId: 3n, status: 'available' },
    { name: 'Simba', categoryId: 2n, status: 'sold' },
    { name: 'Lola', categoryId: 1n, status: 'available' },
    { name: 'Kiwi', categoryId: 4n, status: 'available' },
    { name: 'Oscar', categoryId: 2n, status: 'available' },
    { name: 'Ruby', categoryId: 1n, status: 'pending' },
    { name: 'Toby', categoryId: 1n, status: 'available' },
    { name: 'Hazel', categoryId: 3n, status: 'available' },
    { name: 'Mochi', categoryId: 2n },
    { name: 'Biscuit', categoryId: 3n, status: 'sold' },
    { name: 'Zoë', categoryId: 4n, status: 'available' },
    { name: 'Shelly', categoryId: 5n, status: 'available' },
  ],
});
