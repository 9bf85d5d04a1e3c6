import { token } from './token.js';
import { render } from 'preact';
import '../style/style.css';
import { teach } from '../base/language.js';
import { place } from '../base/page.js';
import messages from '../messages/signin.json';
import { SignIn } from './sign-in.js';

teach(messages);
render(<SignIn name={location.pathname.split('/').pop() ?? ''} token={token} />, place());
