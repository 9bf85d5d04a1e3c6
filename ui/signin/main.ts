import { token } from './store/token.js';
import '../style/style.css';
import { addMessages } from '../base/text/i18n.js';
import messages from '../messages/en/signin.json';
import { openSignIn } from './start.js';

addMessages(messages);
void openSignIn(location.pathname.split('/').pop() ?? '', token);
