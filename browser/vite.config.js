import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;

const THEME = join(HERE, 'design/theme.js');
const GRAPHIQL_STYLES = /node_modules\/graphiql\/.*\.css$/;

/** Nothing here imports Vite, so that `build.js` loads it only when it builds. */
const SHARED = {
  logLevel: 'error',
  build: {
    // The policies allow data: addresses only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
};

/** The scripts and styles of the pages, which the server renders. */
const pages = {
  ...SHARED,
  root: join(HERE, 'pages'),
  base: '/pages/',
  resolve: { alias: { 'react-style-singleton': join(HERE, 'pages/graphiql/no-inline-styles.ts') } },
  plugins: [withoutFonts()],
  build: {
    ...SHARED.build,
    manifest: 'manifest.json',
    assetsDir: '',
    chunkSizeWarningLimit: 1_200,
    rolldownOptions: {
      input: [
        'graphiql/graphiql.tsx',
        'home.ts',
        'reference/reference.ts',
        'sandbox.ts',
        'page.css',
        '../design/icon.svg',
        '../design/theme.js',
      ].map((name) => join(HERE, 'pages', name)),
    },
  },
};

/** The dashboard. No React plugin: Vite itself compiles JSX, and the plugin would only add hot reloading. */
const dashboard = {
  ...SHARED,
  root: join(HERE, 'dashboard'),
  base: '/dashboard/',
  cacheDir: join(HERE, '../node_modules/.vite'),
  plugins: [withTheme(), withGateway()],
  // For `npx vite`: the gateway runs separately.
  server: { proxy: { '/graphql': 'http://127.0.0.1:4000' } },
  build: { ...SHARED.build, target: 'es2022' },
};

/** The builds of `npm run build`, by the name of their folder in `dist/public`. */
export const BUILDS = { pages, dashboard };

/** For `npx vite -c browser/vite.config.js`, which serves the dashboard and reloads it. */
export default { ...dashboard, logLevel: 'info' };

/** GraphiQL's style sheet contains 34 fonts as data: addresses, nine tenths of its size; the design has its own fonts. */
function withoutFonts() {
  return {
    name: 'without-fonts',
    enforce: 'pre',
    transform: (code, id) => (GRAPHIQL_STYLES.test(id) ? code.replace(/@font-face\s*\{[^}]*\}/g, '') : null),
  };
}

/** Vite bundles only modules, which run after the first paint: too late for the theme. */
function withTheme() {
  const source = readFileSync(THEME, 'utf8');
  const fileName = `assets/theme-${createHash('sha256').update(source).digest('hex').slice(0, 8)}.js`;
  return {
    name: 'with-theme',
    transformIndexHtml: (_, { server }) => [
      {
        tag: 'script',
        attrs: { src: server ? `/@fs${THEME}` : `/dashboard/${fileName}` },
        injectTo: 'head-prepend',
      },
    ],
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source });
    },
  };
}

/** In development the page takes what its gateway serves from the page of the gateway behind it. */
function withGateway() {
  return {
    name: 'with-gateway',
    apply: 'serve',
    async transformIndexHtml(html, { server }) {
      const page = await fetch(`${server.config.server.proxy['/graphql']}/dashboard/`);
      const [block] =
        /<title>.*<\/title>\s*<script type="application\/json".*?<\/script>/s.exec(await page.text()) ?? [];
      if (!block) throw new Error('The gateway has no dashboard. Run: npm run build');
      return html.replace(/<title>.*<\/title>/, () => block);
    },
  };
}
