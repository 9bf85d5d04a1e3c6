import { addMessages } from '../base/text/i18n.js';
import messages from '../messages/en/setup.json';

addMessages(messages);

export { ConsentView as consent } from './views/consent-view.js';
export { SetupView as setup } from './views/setup-view.js';
