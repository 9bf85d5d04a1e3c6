import { addMessages } from '../base/i18n.js';
import messages from '../messages/en/ends.json';

addMessages(messages);

export { ContinueView as continue } from './continue-view.js';
export { EndsSoon } from './ends-soon.js';
export { EndView as end } from './end-view.js';
export { BlockedView as blocked, RefusalView as refused } from './blocked-view.js';
