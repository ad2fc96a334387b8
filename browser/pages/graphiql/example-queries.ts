import {
  capitalized,
  type GatewayDescription,
  type NounDescription,
  type NounExample,
  type NounField,
  readableFieldsOf,
  withoutStop,
} from '../../nouns.js';

export type ExampleQuery = NounExample;

/** An example for each task, in the order in which users need them. A test runs them all against the schema. */
export const exampleQueries = (nouns: GatewayDescription['nouns']): readonly ExampleQuery[] => [
  ...nouns.flatMap((noun) => noun.examples ?? usualExamples(noun)),
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
    variables: { key: { name: 'storefront', scopes: [`${nouns[0].plural.toUpperCase()}_READ`] } },
  },
];

/** A list, a creation and a change, with every field, each action, and a subscription. */
function usualExamples(noun: NounDescription): NounExample[] {
  const { singular, plural, type, withArticle, fields, actions = [], hasChanges } = noun;
  const selection = ['id', ...readableFieldsOf(noun).map(({ name }) => name)].join(' ');
  const values = valuesOf(fields);
  const followExample = {
    task: `Follow changes of ${plural}`,
    query: `subscription Follow${capitalized(plural)}($after: String) {
  ${singular}Changes(after: $after) { cursor kind at ${singular} { ${selection} } }
}
`,
    variables: { after: null },
  };
  return [
    {
      task: `List ${plural}`,
      query: `query List${capitalized(plural)}($after: String) {
  ${plural}(first: 10, after: $after) {
    nodes { ${selection} createdAt }
    pageInfo { hasNextPage endCursor }
  }
}
`,
      variables: { after: null },
    },
    {
      task: `Add ${withArticle}`,
      query: `mutation Add${type}($input: New${type}!) {
  create${type}(input: $input) { ${selection} }
}
`,
      variables: { input: Object.fromEntries(values) },
    },
    {
      task: `Change ${withArticle}`,
      query: `mutation Change${type}($id: ID!, $changes: ${type}Changes!) {
  update${type}(id: $id, input: $changes) { ${selection} }
}
`,
      variables: { id: `<id of a ${singular}>`, changes: Object.fromEntries(values.slice(0, 1)) },
    },
    ...actions.map((action) => {
      const hasInput = action.fields.length > 0;
      const act = capitalized(action.name) + type;
      return {
        task: withoutStop(action.description),
        query: `mutation ${act}($id: ID!${hasInput ? `, $input: ${act}Input!` : ''}) {
  ${action.name}${type}(id: $id${hasInput ? ', input: $input' : ''}) { ${selection} }
}
`,
        variables: {
          id: `<id of a ${singular}>`,
          ...(hasInput && { input: Object.fromEntries(valuesOf(action.fields)) }),
        },
      };
    }),
    ...(hasChanges ? [followExample] : []),
  ];
}

function valuesOf(fields: readonly NounField[]): [name: string, value: unknown][] {
  return fields.map(({ name, json, scalar, example }) => [
    name,
    scalar === 'Int' || json === 'boolean' || json === 'texts' ? JSON.parse(example) : example,
  ]);
}
