import { render } from 'preact';
import '../style/style.css';
import { addMessages } from '../base/text/i18n.js';
import { mountPoint } from '../base/page.js';
import messages from '../messages/en/recovery.json';
import { RecoveryPage } from './recovery-page.js';

addMessages(messages);
render(<RecoveryPage />, mountPoint());
