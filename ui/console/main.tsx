import { render } from 'preact';
import '../style/style.css';
import '../style/decisions.css';
import '../style/cedar.css';
import '../style/frame.css';
import '../style/console.css';
import '../style/overview.css';
import { addMessages } from '../base/text/i18n.js';
import { mountPoint } from '../base/page.js';
import messages from '../messages/en/console.json';
import frame from '../messages/en/frame.json';
import { ConsolePage } from './console-page.js';

addMessages({ ...messages, ...frame });
render(<ConsolePage />, mountPoint());
