export interface ExampleQuery {
  /** What one wants to do. */
  task: string;
  query: string;
  variables?: Record<string, unknown>;
}

/** One for each task, in the order in which one meets them. A test runs them all against the schema. */
export const EXAMPLE_QUERIES: readonly ExampleQuery[] = [
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
    task: 'See what is left of the quota',
    query: `query WhatIsLeft {
  rateLimit {
    minute { limit remaining resetAt }
    day { limit remaining resetAt }
    ban { strikes until nextStepMinutes }
  }
}
`,
  },
  {
    task: 'Look at the project',
    query: `query Project {
  project { slug name plan publishedAt url }
}
`,
  },
  {
    task: 'Publish the project',
    query: `mutation Publish {
  publishProject { slug publishedAt }
}
`,
  },
  {
    task: 'Attach a domain',
    query: `mutation AddDomain($hostname: String!) {
  addDomain(hostname: $hostname) {
    id
    status
    instructions { type name value ttl }
  }
}
`,
    variables: { hostname: 'shop.example.com' },
  },
  {
    task: 'Verify a domain',
    query: `mutation VerifyDomain($id: ID!) {
  verifyDomain(id: $id) {
    status
    serving
    diagnoses { code actor cause remedy retryAt evidence { server question answer ttl } }
  }
}
`,
    variables: { id: '<id of a domain>' },
  },
  {
    task: 'List domains',
    query: `query Domains {
  domains {
    id
    hostname
    status
    serving
    certificate { issuer notAfter renewAt }
    timeline(first: 5) { at message }
  }
}
`,
  },
  {
    task: 'See how much is used',
    query: `query Usage {
  project {
    usage(window: HOUR) {
      points { at graphql { admitted refused } rest { admitted refused } }
    }
  }
}
`,
  },
  {
    task: 'List API keys',
    query: `query ApiKeys {
  apiKeys { id name prefix scopes createdAt lastUsedAt expiresAt revokedAt isCurrent }
}
`,
  },
  {
    task: 'Make an API key',
    query: `mutation MakeKey($key: NewApiKey!) {
  createApiKey(input: $key) { token key { id prefix scopes } }
}
`,
    variables: { key: { name: 'storefront', scopes: ['PETS_READ'] } },
  },
];
