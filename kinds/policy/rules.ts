import type { Authorize, Question } from '../../registry/decision.js';
import type { Caller, Decision } from '../../registry/kind.js';

/** The account that owns an object, read from its name: everything owned is named `<account>-<suffix>`. */
const ownerOf = (question: Question): string | undefined => {
  if (!question.kind?.owner) return undefined;
  if (question.name === undefined) return question.owner;
  return question.kind.owner === 'metadata.name' ? question.name : question.name.split('-', 1)[0];
};

const isOperator = (caller: Caller): boolean => (caller.type === 'Account' && caller.operator) || (caller.type === 'Machine' && caller.groups.includes('system:masters'));
const isOwner = (question: Question): boolean => question.caller.type === 'Account' && ownerOf(question) === question.caller.account;
const isBound = ({ caller, name }: Question): boolean => caller.type === 'Browser' && caller.interaction === name;
const among = (...actions: string[]) => (question: Question): boolean => actions.includes(question.action);

type Rule = { id: string; kinds: readonly string[]; permits: (question: Question) => boolean };

/** The default table of `api.md` 4, as a fixed rule set: no rule permits = refused. */
const rules: readonly Rule[] = [
  { id: 'an interaction answers to the browser bound to it', kinds: ['Interaction'], permits: (q) => isBound(q) },
  { id: 'operators list interactions', kinds: ['Interaction'], permits: (q) => isOperator(q.caller) && among('list')(q) },
  { id: 'people see and end their own sessions', kinds: ['Session'], permits: isOwner },
  { id: 'people see and change their own account', kinds: ['Account'], permits: (q) => isOwner(q) && !among('accounts/disable', 'accounts/enable')(q) },
  { id: 'people see what they agreed to and what was asked about them', kinds: ['Grant', 'ClaimsReview'], permits: isOwner },
  { id: 'people see who supplies claims', kinds: ['ClaimsProvider'], permits: (q) => q.caller.type === 'Account' && among('get', 'list', 'watch')(q) },
  { id: 'anyone reads the mailbox while mail is mocked', kinds: ['MockMessage'], permits: () => true },
  { id: 'operators see and change sessions, accounts, grants, clients, claims providers and groups', kinds: ['Session', 'Account', 'Grant', 'Client', 'ClaimsProvider', 'ClaimsReview', 'Group'], permits: (q) => isOperator(q.caller) },
];

/** What anyone may do, signed in or not. */
const open = new Set(['discovery', 'health', 'page', 'asset', 'provider', 'signUp', 'signIn', 'share']);

const permitted = (rule: string): Decision => ({ allowed: true, reasons: [{ rule, message: '' }] });
const refused: Decision = { allowed: false, reasons: [{ rule: 'default', message: 'No rule permits it.' }] };

/** The policy until texts of it arrive: this service itself may do anything, everybody else what the table says. */
export const authorize: Authorize = async (question) => {
  if (question.caller.type === 'System') return permitted('this service itself');
  if (open.has(question.action)) return permitted('open to anyone');
  const rule = rules.find(({ kinds, permits }) => question.kind && kinds.includes(question.kind.kind) && permits(question));
  return rule ? permitted(rule.id) : refused;
};
