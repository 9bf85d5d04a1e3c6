/**
 * What a quick run leaves to `hack/test --all`: pictures of every page, long histories under faults,
 * programs of others, and benchmarks of what policy decides.
 */
const slow = [
  '/test/browser/(?!journey)',
  '/test/faults/(history/(etcd|rolling|embedded)|quorum|floods|replicas|informer|start)',
  '/test/kubernetes/',
  '/test/(apps|clients|docs|chart|new-kind|sbom|bundle|library/package)',
  '/test/release/(package|installed)',
  '/test/storage/(credentials|etcd-(faults|versions))',
  '/test/cmd/snapshot',
  '/test/api/watch/slowreader',
];

/**
 * Tests run from the TypeScript sources, as ES modules (NODE_OPTIONS=--experimental-vm-modules, set
 * by hack/test).
 */
export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  testEnvironmentOptions: { globalsCleanup: 'off' },
  globalSetup: '<rootDir>/test/support/measure-machine.mjs',
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '<rootDir>/test/mutants/transform.mjs',
      {
        jsc: {
          parser: { syntax: 'typescript' },
          target: 'es2022',
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '/test/bench/',
    '/test/cluster/',
    ...(process.env.VESTIBULE_TEST_QUICK === '1' ? slow : []),
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/ui/dist/'],
  testTimeout: 120_000,
  // A fresh worker takes less time than the collections that free what former suites left in one.
  workerIdleMemoryLimit: '240MB',
};
