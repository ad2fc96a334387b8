import { type Html, html } from './html.js';
import type { PageAssets } from './page-assets.js';
import { type Site, siteHeader } from './site-header.js';

interface Page {
  title: string;
  site: Site;
  /** The entry of `browser/pages` with the page's script and styles. */
  script: string;
  bodyClass?: string;
  /** The topic of the page, next to the brand. */
  context?: Html;
  body: Html;
}

/** A whole document. Nothing is inline, because the policies allow neither inline scripts nor inline styles. */
export function pageText(
  assets: PageAssets,
  { title, site, script, bodyClass, context, body }: Page,
): string {
  const styles = [...assets.stylesOf('page.css'), ...assets.stylesOf(script)];
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="${assets.urlOf('../design/icon.svg')}">
<script src="${assets.urlOf('../design/theme.js')}"></script>
${styles.map((url) => html`<link rel="stylesheet" href="${url}">\n`)}<script type="module" src="${assets.urlOf(script)}"></script>
</head>
<body${bodyClass !== undefined && html` class="${bodyClass}"`}>
<a class="skip" href="#content">Skip to the page</a>
${siteHeader(assets, site, context ?? null)}
${body}
</body>
</html>
`;
  return page.markup;
}
