import { render } from 'preact';
import '../style/style.css';
import '../style/decisions.css';
import '../style/frame.css';
import '../style/account.css';
import { addMessages } from '../base/text/i18n.js';
import { mountPoint } from '../base/page.js';
import account from '../messages/en/account.json';
import frame from '../messages/en/frame.json';
import address from '../messages/en/address.json';
import passkey from '../messages/en/passkey.json';
import { AccountPage } from './account-page.js';

addMessages(account);
addMessages(address);
addMessages(frame);
addMessages(passkey);
render(<AccountPage />, mountPoint());
