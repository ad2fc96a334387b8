import type { Addresses } from '../app/addresses.js';
import type { Gateway, LoadedGateway } from '../app/gateway.js';
import { readableFieldsOf } from '../noun-words.js';

/** The text of `--help`. */
export function helpOf({ name }: Gateway): string {
  return `${name}. It takes no arguments: settings are environment variables, listed in docs/settings.md.
Without any setting it serves http://127.0.0.1:4000 from the file ./var/petstore.sqlite.
  --help, --version   print this help or the version
Projects and API keys: npx petstore --help`;
}

/** The text that the program prints when it listens. */
export function greeting(
  { name, nouns: [first], scopes }: LoadedGateway,
  { base }: Addresses,
  { demoKey, isDemo, database }: { demoKey: string | null; isDemo: boolean; database: string },
): string {
  const key = demoKey ?? '<API_KEY>';
  const { plural } = first.description;
  const shown = readableFieldsOf(first.description)
    .filter(({ kind }) => kind === 'text' || kind === 'choice')
    .map(({ name }) => name);
  const query = `{"query":"{ ${plural}(first: 3) { nodes { id ${shown.join(' ')} } } project { slug plan } }"}`;
  return [
    '',
    `${name} listens on ${base}   (open it in a browser for all pages)`,
    `  GraphQL   ${base}/graphql   (open it in a browser for Apollo Sandbox)`,
    `  REST      ${base}/v1/${plural}   (described by ${base}/v1/openapi.json)`,
    `  Dashboard ${base}/dashboard   (sign in with an API key)`,
    `  Database  ${database}`,
    '',
    demoKey
      ? `Demo key, shown only once: ${demoKey}`
      : `To create a key: npx petstore keys create ${isDemo ? 'demo' : '<project>'} --scopes ${scopes.all.join(',')}`,
    '',
    `curl -s '${base}/graphql' -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${query}'`,
    `curl -s '${base}/v1/${plural}?limit=3' -H 'Authorization: Bearer ${key}'`,
    '',
  ].join('\n');
}
