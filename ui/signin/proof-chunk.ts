import { teach } from '../base/i18n.js';
import messages from '../messages/proof.json';

teach(messages);

export { CodeView as code } from './code-view.js';
export { EndView as end } from './end-view.js';
export { ImpasseView as impasse, RefusalView as refused } from './blocked-view.js';
