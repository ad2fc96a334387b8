const APOLLO_SCRIPTS = 'https://embeddable-sandbox.cdn.apollographql.com';
const APOLLO_FRAME = 'https://sandbox.embed.apollographql.com';

/** Only the gateway's own files: no inline script or style, no other host, no frame, no form that leaves the page. */
const STRICT = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'font-src': "'self'",
  'connect-src': "'self'",
  'img-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

// A page may be stored, but a client must ask whether it has changed.
const REVALIDATED = { 'cache-control': 'private, no-cache' };

/** The resources that a page may load, and the access of other sites to it. */
export const PAGE_HEADERS = {
  ...headersWith({ ...STRICT, 'require-trusted-types-for': "'script'" }, 'same-origin'),
  ...REVALIDATED,
};

/** Its style sheets contain images. */
export const DASHBOARD_HEADERS = headersWith({ ...STRICT, 'img-src': "'self' data:" }, 'same-origin');

/** GraphiQL renders the schema's documentation as markup, and the style sheets of its editors contain images. */
export const GRAPHIQL_HEADERS = { ...DASHBOARD_HEADERS, ...REVALIDATED };

/** The only page with a third party: Apollo's script, and the frame that it opens; its log-in is a pop-up. */
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
  };
}
