import { defineConfig, type Plugin } from 'vite';

/**
 * Replaces Vite's preload helper: chunks have no style sheet and nothing to preload, so a dynamic
 * import needs no wrapper.
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
 * The first line of a page's script. Every function in it runs before the first view, so V8
 * compiles the script off the main thread while it arrives. Chunks are compiled as they are called.
 */
const runAtOnce = '//# allFunctionsCalledOnLoad';

/** Pages with a style sheet of their own, named after the page. */
const dressed = new Set(['account', 'policy']);

/**
 * Builds one entry, named by the mode, into its own bundle: a page loads one script and one style
 * sheet. Entries that are not in `dressed` share one style sheet, so its name is the same for all
 * of them. `build.mjs` runs this once per entry.
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
