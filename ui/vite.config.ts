import { defineConfig, type Plugin } from 'vite';

/**
 * Chunks of a page have no style sheet of their own and nothing to preload, so a dynamic import is
 * just that.
 */
const plainImports: Plugin = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) =>
    id === '\0vite/preload-helper.js'
      ? 'export const __vitePreload = (load) => load();'
      : undefined,
};

/**
 * Said first in a page's script: all of it runs before the first view, so it is compiled while it
 * arrives, on another thread, and not function by function on the one that draws. The later parts
 * are compiled as they are called.
 */
const runAtOnce = '//# allFunctionsCalledOnLoad';

/** Pages with rules of their own beside those that all share: their style sheet has their name. */
const dressed = new Set(['account', 'policy']);

/**
 * Builds one entry, named by the mode, into a bundle of its own: a page then loads one script and
 * one style sheet. The style sheet is the same for every entry that is not `dressed`, so its name
 * is too.
 * `build.mjs` runs this once an entry.
 */
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  base: '/',
  publicDir: false,
  clearScreen: false,
  logLevel: 'warn',
  plugins: [plainImports],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    emptyOutDir: false,
    manifest: `manifest-${mode}.json`,
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: `${import.meta.dirname}/${mode}.html`,
      output: {
        postBanner: ({ isEntry }) => (isEntry ? runAtOnce : ''),
        assetFileNames: ({ names: [name = ''] }) =>
          name.endsWith('.css')
            ? `assets/${dressed.has(mode) ? mode : 'style'}-[hash].css`
            : 'assets/[name]-[hash][extname]',
      },
    },
  },
}));
