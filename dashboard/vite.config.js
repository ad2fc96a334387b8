import { defineConfig } from 'vite';

/** No React plugin: Vite compiles JSX by itself, and hot reloading is all the plugin would add. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  cacheDir: '../node_modules/.vite',
  // For `npx vite dashboard`: the gateway itself runs beside it.
  server: { proxy: { '/graphql': 'http://127.0.0.1:4000' } },
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    // An inlined asset would be a data: address, which the policy allows for images only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
