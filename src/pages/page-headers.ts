const APOLLO_SCRIPTS = 'https://embeddable-sandbox.cdn.apollographql.com';
const APOLLO_FRAME = 'https://sandbox.embed.apollographql.com';

const STRICT = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** What a page may load, and what other sites may do with it. */
export const PAGE_HEADERS = headersWith(
  { ...STRICT, 'require-trusted-types-for': "'script'" },
  'same-origin',
);

/** GraphiQL writes the documentation of the schema as markup, and its editors bring pictures in their style sheets. */
export const GRAPHIQL_HEADERS = headersWith({ ...STRICT, 'img-src': "'self' data:" }, 'same-origin');

/** The one page with a third party on it: Apollo's script, and the frame that it opens; its log-in is a pop-up. */
export const SANDBOX_HEADERS = headersWith(
  { ...STRICT, 'script-src': `'self' ${APOLLO_SCRIPTS}`, 'frame-src': APOLLO_FRAME },
  'same-origin-allow-popups',
);

function headersWith(policy: Record<string, string>, openerPolicy: string): Record<string, string> {
  return {
    'content-security-policy': Object.entries(policy)
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    'cross-origin-opener-policy': openerPolicy,
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
  };
}
