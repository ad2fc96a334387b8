interface Recipe {
  name: string;
  href: string;
}

const PAGE = '/v1/docs/clients';

/** By the start of the `User-Agent`. */
const RECIPES: readonly (readonly [agent: RegExp, name: string, anchor: string])[] = [
  [/^curl\//, 'recipe for curl', '#curl'],
  [/^Wget\//i, 'what wget does after a 429', '#behaviour'],
  [/^python-requests\//, 'recipe for Python', '#python'],
  [/^axios\//, 'recipe for axios', '#axios'],
  [/^got /, 'settings for got', '#settings'],
  [/^Mozilla\//, 'recipes for React', '#react'],
];

/** The page of the reference that shows how this client waits. */
export function recipeOf(userAgent: string): Recipe {
  const [, name, anchor] = RECIPES.find(([agent]) => agent.test(userAgent)) ?? [];
  return name && anchor
    ? { name, href: `${PAGE}${anchor}` }
    : { name: 'how to wait', href: '/v1/docs/limits#retry' };
}

/** A browser by its name and version; any other client as it names itself. */
export function nameOf(userAgent: string): string {
  const [, browser, version] = /^Mozilla\/.*\b(Firefox|Edg|Chrome|Version)\/(\d+)/.exec(userAgent) ?? [];
  if (!browser) return userAgent;
  const name = { Edg: 'Edge', Version: 'Safari' }[browser] ?? browser;
  return `${name} ${version}`;
}
