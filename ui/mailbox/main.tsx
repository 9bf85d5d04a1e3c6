import { render } from 'preact';
import '../style/style.css';
import { addMessages } from '../base/text/i18n.js';
import { mountPoint } from '../base/page.js';
import messages from '../messages/en/mailbox.json';
import { Mailbox } from './mailbox.js';

addMessages(messages);
render(<Mailbox />, mountPoint());
