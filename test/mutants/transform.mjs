import swc from '@swc/jest';
import { mutated } from './mutant.mjs';

/**
 * Compiles as @swc/jest does, after the change of the mutant that VESTIBULE_MUTANT names, if it
 * names one. The cache of earlier runs is keyed by what was compiled.
 */
export default {
  createTransformer(options) {
    const inner = swc.createTransformer(options);
    return {
      ...inner,
      process: (text, file, more) => inner.process(mutated(text, file), file, more),
      processAsync: (text, file, more) => inner.processAsync(mutated(text, file), file, more),
      getCacheKey: (text, file, more) => inner.getCacheKey(mutated(text, file), file, more),
    };
  },
};
