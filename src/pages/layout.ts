import { type Html, html } from './html.js';
import type { PageAssets } from './page-assets.js';

interface Page {
  title: string;
  /** The entry of `pages/` with the page's script and styles; null = it needs none. */
  script: string | null;
  bodyClass?: string;
  body: Html;
}

/** A whole document. Nothing in it stands inline: the policies allow neither scripts nor styles there. */
export function pageText(assets: PageAssets, { title, script, bodyClass, body }: Page): string {
  const styles = [...assets.stylesOf('page.css'), ...(script === null ? [] : assets.stylesOf(script))];
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="${assets.urlOf('icon.svg')}">
${styles.map((url) => html`<link rel="stylesheet" href="${url}">\n`)}${
  script !== null && html`<script type="module" src="${assets.urlOf(script)}"></script>\n`
}</head>
<body${bodyClass !== undefined && html` class="${bodyClass}"`}>
${body}
</body>
</html>
`;
  return page.markup;
}
