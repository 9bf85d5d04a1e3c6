import { addMessages } from '../base/i18n.js';
import address from '../messages/en/address.json';
import messages from '../messages/en/proof.json';

addMessages(messages);
addMessages(address);

export { CodeView as code } from './code-view.js';
export { LinkView as link } from './link-view.js';
export { readAddress } from '../base/address.js';
