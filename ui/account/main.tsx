import { render } from 'preact';
import '../style/style.css';
import '../style/decisions.css';
import '../style/account.css';
import { addMessages } from '../base/i18n.js';
import { mountPoint } from '../base/page.js';
import account from '../messages/en/account.json';
import alternatives from '../messages/en/alternatives.json';
import decisions from '../messages/en/decisions.json';
import passkey from '../messages/en/passkey.json';
import { AccountPage } from './account-page.js';

addMessages(account);
addMessages(passkey);
addMessages({ ...decisions, ...alternatives });
render(<AccountPage />, mountPoint());
