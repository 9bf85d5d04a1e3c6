/**
 * Puts what `vestibule` runs into a few files, dist/bundle: `node hack/bundle.mjs`, after tsc. A start then reads and
 * links some twenty modules in place of nine hundred. What brings machine code, WebAssembly or files of its own stays
 * where npm put it.
 */
import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..');

await build({
  configFile: false, root, logLevel: 'error', publicDir: false,
  ssr: { noExternal: true, external: ['lmdb', '@cedar-policy/cedar-wasm', 'etcd3', '@grpc/grpc-js', '@grpc/proto-loader'] },
  build: {
    ssr: join(root, 'dist/main.js'), outDir: join(root, 'dist/bundle'), target: 'node20', minify: false, emptyOutDir: true,
    rolldownOptions: { output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', keepNames: true } },
  },
});
