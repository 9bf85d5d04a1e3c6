import { addMessages } from '../base/i18n.js';
import messages from '../messages/en/proof.json';

addMessages(messages);

export { CodeView as code } from './code-view.js';
export { LinkView as link } from './link-view.js';
