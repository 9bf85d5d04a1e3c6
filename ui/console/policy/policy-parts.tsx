import { addMessages } from '../../base/text/i18n.js';
import activity from '../../messages/en/activity.json';
import alternatives from '../../messages/en/alternatives.json';
import decisions from '../../messages/en/decisions.json';
import policies from '../../messages/en/policies.json';
import policy from '../../messages/en/policy.json';

addMessages({ ...activity, ...alternatives, ...decisions, ...policies, ...policy });

export { DecisionsPart } from './decisions-part.js';
export { PolicyPart } from './policy-part.js';
