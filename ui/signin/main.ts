import { token } from './token.js';
import '../style/style.css';
import { teach } from '../base/language.js';
import messages from '../messages/signin.json';
import { open } from './opening.js';

teach(messages);
void open(location.pathname.split('/').pop() ?? '', token);
