/**
 * Tests run from the TypeScript sources, as ES modules (NODE_OPTIONS=--experimental-vm-modules, set
 * by hack/test).
 */
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { globalsCleanup: 'off' },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '<rootDir>/test/mutants/transform.mjs',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/test/bench/', '/test/cluster/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/ui/dist/'],
  testTimeout: 120_000,
};
