import type { GatewayDescription } from '../../../../noun-words.js';
import { SITE_LINKS } from '../../shown/site-links.js';
import { type Html, html } from './html.js';

/** Vite's list of the files that were built from each entry of `browser/pages/`. */
export type Manifest = Record<string, { file: string; css?: string[] }>;

/** A host of the platform, or of any project: there is no dashboard, and the page itself asks for the project's name. */
export interface Site extends Pick<GatewayDescription, 'name' | 'nouns'> {
  manifest: Manifest;
  /** The paths of the gateway's icon and style sheet; null = the usual ones. */
  brand: { icon: string | null; style: string | null };
  isProject: boolean;
  /** The name until the page knows the project's. */
  name: string;
}

interface Page {
  title: string;
  /** The current page, or the one that the current page belongs to. */
  current: '/' | (typeof SITE_LINKS)[number]['href'];
  /** The entry of `browser/pages` with the page's script and styles. */
  script: string;
  bodyClass?: string;
  /** The topic of the page, next to the brand. */
  context?: Html;
  body: Html;
}

/** A script makes it work. Apollo's page has none: its script is a third party's. */
const SIGN_IN = html`<button type="button" class="quiet small" id="sign-in"></button>
<dialog id="key-dialog" class="key-dialog" aria-labelledby="key-title"><form novalidate>
<h2 id="key-title">Sign in</h2>
<p>This browser keeps the API key until you sign out or close the last tab, and sends it only to this gateway.</p>
<label for="api-key">API key</label>
<input id="api-key" name="key" type="password" autocomplete="off" spellcheck="false" placeholder="pk_…" aria-describedby="key-problem">
<p id="key-problem" class="problem" role="alert"></p>
<div class="key-actions"><button type="button">Cancel</button> <button class="primary">Sign in</button></div>
</form></dialog>
`;

/** A whole document. Nothing is inline, because the policies allow neither inline scripts nor inline styles. */
export function pageText(site: Site, { title, script, bodyClass, body, ...header }: Page): string {
  const urlsOf = (entry: string) => {
    const built = site.manifest[entry];
    if (!built) throw new Error(`browser/pages was built without ${entry}`);
    return [built.file, ...(built.css ?? [])].map((name) => `/pages/${name}`);
  };
  const [usualIcon] = urlsOf('../design/icon.svg');
  const icon = site.brand.icon ?? usualIcon;
  const [theme] = urlsOf('../design/theme.js');
  const [module, ...ownStyles] = urlsOf(script);
  const styles = [...urlsOf('page.css'), ...ownStyles, ...(site.brand.style ? [site.brand.style] : [])];
  const page = html`<!doctype html>
<html lang="en"${site.isProject && html` data-project`}>
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="${icon ?? null}">
<script src="${theme ?? null}"></script>
${styles.map((url) => html`<link rel="stylesheet" href="${url}">\n`)}<script type="module" src="${module ?? null}"></script>
</head>
<body${bodyClass !== undefined && html` class="${bodyClass}"`}>
<a class="skip" href="#content">Skip to the page</a>
${siteHeader(site, icon ?? '', header)}
${body}
</body>
</html>
`;
  return page.markup;
}

/** The bar on top of every page: the brand, what the page is about, and the links between the pages. */
function siteHeader({ isProject, name }: Site, icon: string, { current, context }: Partial<Page>): Html {
  const links = SITE_LINKS.filter(({ href }) => !isProject || href !== '/dashboard/');
  return html`<header class="site-header">
<a class="site-brand" href="/"><img src="${icon}" alt="" width="26" height="26"> <bdi>${name}</bdi></a>
${context !== undefined && html`<div class="site-context">${context}</div>\n`}<nav class="site-nav" aria-label="${name}">
<ul>
${links.map(({ href, label }) => html`<li><a href="${href}"${href === current && html` aria-current="true"`}>${label}</a></li>\n`)}</ul>
</nav>
<theme-switch></theme-switch>
${current !== '/graphql' && SIGN_IN}</header>`;
}
