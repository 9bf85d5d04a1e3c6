import { token } from './token.js';
import '../style/style.css';
import { teach } from '../base/i18n.js';
import messages from '../messages/signin.json';
import { open } from './start.js';

teach(messages);
void open(location.pathname.split('/').pop() ?? '', token);
