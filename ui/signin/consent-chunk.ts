import { addMessages } from '../base/i18n.js';
import messages from '../messages/en/setup.json';

addMessages(messages);

export { ConsentView as consent } from './consent-view.js';
export { SetupView as setup } from './setup-view.js';
