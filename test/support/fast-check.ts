import fc from 'fast-check';
import { seed } from './random.js';

fc.configureGlobal({ seed });

/** fast-check, which draws by the seed of the suite. */
export default fc;
