import { addMessages } from '../base/i18n.js';
import messages from '../messages/en/proof.json';

addMessages(messages);

export { CodeView as code } from './code-view.js';
export { EndView as end } from './end-view.js';
export { BlockedView as blocked, RefusalView as refused } from './blocked-view.js';
