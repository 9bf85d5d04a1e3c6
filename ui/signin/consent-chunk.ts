import { teach } from '../base/i18n.js';
import messages from '../messages/setup.json';

teach(messages);

export { ConsentView as consent } from './consent-view.js';
export { SetupView as setup } from './setup-view.js';
