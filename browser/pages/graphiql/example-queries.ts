export interface ExampleQuery {
  /** The user's task. */
  task: string;
  query: string;
  variables?: Record<string, unknown>;
}

/** An example for each task, in the order in which users need them. A test runs them all against the schema. */
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
    task: 'See the remaining quota',
    query: `query RemainingQuota {
  rateLimit {
    minute { limit remaining resetAt }
    day { limit remaining resetAt }
    ban { strikes until nextStepMinutes }
  }
}
`,
  },
  {
    task: 'See the project',
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
    task: 'See the usage',
    query: `query Usage {
  project {
    usage(window: DAY, by: OPERATION) {
      series { name total { admitted refused failed } counts { admitted } }
      latency { p50Ms p95Ms }
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
    task: 'Create an API key',
    query: `mutation CreateKey($key: NewApiKey!) {
  createApiKey(input: $key) { token key { id prefix scopes } }
}
`,
    variables: { key: { name: 'storefront', scopes: ['PETS_READ'] } },
  },
];
