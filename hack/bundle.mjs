/**
 * Puts what `vestibule` runs into a few files, dist/bundle: `node hack/bundle.mjs`, after tsc. A
 * start then reads and links some twenty modules in place of nine hundred. What brings machine
 * code, WebAssembly, files of its own or long tables stays where npm put it.
 */
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..');

/**
 * One character beyond Latin-1 makes V8 keep the text of a whole file in two bytes a character, so
 * each is written as an escape; tagged raw templates, where that would differ, have none.
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
    target: 'node20',
    minify: false,
    emptyOutDir: true,
    rolldownOptions: {
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', keepNames: true },
    },
  },
});
