/**
 * Bundles the program into a few files in dist/bundle: `node hack/bundle.mjs`, after tsc. A start
 * then loads some twenty modules instead of nine hundred. Packages with native code, WebAssembly,
 * files of their own or long tables stay in node_modules.
 */
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..');

/**
 * A character beyond Latin-1 makes V8 store the text of the whole file with two bytes per character,
 * so every character beyond ASCII is written as an escape. Tagged raw templates, where that would
 * differ, contain none.
 */
const escaped = (code) =>
  code.replace(/[^\x00-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

await build({
  configFile: false,
  root,
  logLevel: 'error',
  publicDir: false,
  ssr: {
    noExternal: true,
    external: [
      'iconv-lite',
      'lmdb',
      '@cedar-policy/cedar-wasm',
      'etcd3',
      '@grpc/grpc-js',
      '@grpc/proto-loader',
    ],
  },
  plugins: [
    {
      name: 'ascii',
      enforce: 'post',
      generateBundle(_, files) {
        for (const file of Object.values(files))
          if (file.type === 'chunk') file.code = escaped(file.code);
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
