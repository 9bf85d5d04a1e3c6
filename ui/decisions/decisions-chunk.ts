import { addMessages } from '../base/text/i18n.js';
import alternatives from '../messages/en/alternatives.json';
import decisions from '../messages/en/decisions.json';

addMessages({ ...decisions, ...alternatives });

export { Decisions } from './decisions.js';
