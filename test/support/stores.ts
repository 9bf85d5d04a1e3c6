/** Whether this is the quick run of `hack/test` without arguments. */
export const isQuick = process.env.VESTIBULE_TEST_QUICK === '1';

/**
 * The stores that a suite runs on: both, or only the embedded one in a quick run.
 *
 * @example
 *   describe.each(stores)('groups on %s', (store) => { … });
 */
export const stores: readonly ('embedded' | 'etcd')[] = isQuick
  ? ['embedded']
  : ['embedded', 'etcd'];
