import { render } from 'preact';
import '../style/style.css';
import '../style/decisions.css';
import '../style/cedar.css';
import '../style/policy.css';
import { addMessages } from '../base/text/i18n.js';
import { mountPoint } from '../base/page.js';
import decisions from '../messages/en/decisions.json';
import policy from '../messages/en/policy.json';
import { PolicyPage } from './policy-page.js';

addMessages({ ...decisions, ...policy });
render(<PolicyPage />, mountPoint());
