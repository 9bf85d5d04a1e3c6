import { render } from 'preact';
import '../style/style.css';
import { addMessages } from '../base/text/i18n.js';
import { mountPoint } from '../base/page.js';
import messages from '../messages/en/invitation.json';
import { InvitationPage } from './invitation-page.js';

addMessages(messages);
render(<InvitationPage />, mountPoint());
