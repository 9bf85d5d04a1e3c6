import { addMessages } from '../base/text/i18n.js';
import address from '../messages/en/address.json';
import messages from '../messages/en/proof.json';

addMessages(messages);
addMessages(address);

export { CodeView as code } from './views/code-view.js';
export { LinkView as link } from './views/link-view.js';
export { readAddress } from '../base/passkeys/address.js';
