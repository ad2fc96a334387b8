import { FIRST_NOUN, NOUNS, type NounExample } from '../../nouns.js';

export type ExampleQuery = NounExample;

/** An example for each task, in the order in which users need them. A test runs them all against the schema. */
export const EXAMPLE_QUERIES: readonly ExampleQuery[] = [
  ...NOUNS.flatMap(({ examples }) => examples),
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
    variables: { key: { name: 'storefront', scopes: [`${FIRST_NOUN.plural.toUpperCase()}_READ`] } },
  },
];
