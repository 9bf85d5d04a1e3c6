/**
 * Bundles the program into a few files in dist/bundle: `node hack/bundle.mjs`, after tsc. A start
 * then loads some twenty modules instead of nine hundred. Packages with native code, WebAssembly,
 * files of their own or long tables stay in node_modules (hack/artefacts/runtime-packages.mjs).
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'vite';
import { imported, listPackages } from './artefacts/runtime-packages.mjs';

const root = join(import.meta.dirname, '..');

/**
 * A character beyond Latin-1 makes V8 store the text of the whole file with two bytes per character,
 * so every character beyond ASCII is written as an escape. Tagged raw templates, where that would
 * differ, contain none.
 */
const escaped = (code) =>
  code.replace(/[^\x00-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Returns the output of git; empty outside of a repository, as in the image. */
function git(...args) {
  try {
    return execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return '';
  }
}

/** What the program is built from: REVISION and SOURCE_DATE_EPOCH, else the checkout. */
function buildInfo() {
  const { REVISION, SOURCE_DATE_EPOCH } = process.env;
  const seconds = Number(SOURCE_DATE_EPOCH || git('log', '-1', '--format=%ct') || 0);
  const commit = REVISION || git('rev-parse', 'HEAD');
  const clean = REVISION || git('status', '--porcelain') === '' ? 'clean' : 'dirty';
  return {
    commit,
    date: `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`,
    treeState: commit && clean,
  };
}

await build({
  configFile: false,
  root,
  logLevel: 'error',
  publicDir: false,
  define: { vestibuleBuild: JSON.stringify(buildInfo()) },
  ssr: {
    noExternal: true,
    external: Object.keys(imported),
  },
  plugins: [
    listPackages('service'),
    {
      name: 'ascii',
      enforce: 'post',
      generateBundle(_, files) {
        for (const file of Object.values(files)) {
          if (file.type === 'chunk') file.code = escaped(file.code);
        }
      },
    },
  ],
  build: {
    ssr: join(root, 'dist/cmd/vestibule/main.js'),
    outDir: join(root, 'dist/bundle'),
    target: 'node24',
    minify: false,
    emptyOutDir: true,
    rolldownOptions: {
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', keepNames: true },
    },
  },
});
