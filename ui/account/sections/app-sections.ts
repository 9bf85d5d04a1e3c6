import { addMessages } from '../../base/text/i18n.js';
import messages from '../../messages/en/apps.json';

addMessages(messages);

export { Apps } from './apps.js';
export { Grants } from './grants.js';
export { Groups } from './groups.js';
export { Reviews } from './reviews.js';
