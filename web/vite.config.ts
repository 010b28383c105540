import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // Small assets stay separate files too: the security policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
  // `npx vite web` beside a running `holdfast serve`.
  server: { proxy: { '/api': 'http://127.0.0.1:4177', '/login': 'http://127.0.0.1:4177' } },
});
