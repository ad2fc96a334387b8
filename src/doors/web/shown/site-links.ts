/** The links of the bar on top of every page. The dashboard is only on the hosts of the platform. */
export const SITE_LINKS = [
  { href: '/dashboard/', label: 'Dashboard' },
  { href: '/v1/docs', label: 'REST' },
  { href: '/graphiql', label: 'GraphiQL' },
  { href: '/graphql', label: 'Sandbox' },
] as const;
