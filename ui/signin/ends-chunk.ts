import { addMessages } from '../base/text/i18n.js';
import messages from '../messages/en/ends.json';

addMessages(messages);

export { ContinueView as continue } from './views/continue-view.js';
export { EndsSoon } from './views/ends-soon.js';
export { EndView as end } from './views/end-view.js';
export { BlockedView as blocked, RefusalView as refused } from './views/blocked-view.js';
