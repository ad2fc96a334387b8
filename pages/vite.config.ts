import { resolve } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const here = import.meta.dirname;

/** The pages themselves are written by the server (`src/pages`); these are the files that they load. */
export default defineConfig({
  root: here,
  base: '/pages/',
  logLevel: 'error',
  resolve: { alias: { 'react-style-singleton': resolve(here, 'no-inline-styles.ts') } },
  plugins: [withoutFonts()],
  build: {
    outDir: resolve(here, '../dist/browser/pages'),
    emptyOutDir: true,
    manifest: 'manifest.json',
    assetsDir: '',
    // The policy of the pages allows no data: addresses but for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_200,
    rolldownOptions: {
      input: ['graphiql.tsx', 'reference.ts', 'sandbox.ts', 'page.css', 'icon.svg'].map((name) =>
        resolve(here, name),
      ),
    },
  },
});

/** GraphiQL's style sheet brings 34 fonts as data: addresses, nine tenths of it; the system's do as well. */
function withoutFonts(): Plugin {
  return {
    name: 'without-fonts',
    enforce: 'pre',
    transform: (code, id) => (id.endsWith('.css') ? code.replace(/@font-face\s*\{[^}]*\}/g, '') : null),
  };
}
