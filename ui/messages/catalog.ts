import type access from './en/access.json';
import type accessrequests from './en/accessrequests.json';
import type account from './en/account.json';
import type activity from './en/activity.json';
import type address from './en/address.json';
import type alternatives from './en/alternatives.json';
import type appearance from './en/appearance.json';
import type apps from './en/apps.json';
import type base from './en/base.json';
import type checklist from './en/checklist.json';
import type console from './en/console.json';
import type decisions from './en/decisions.json';
import type ends from './en/ends.json';
import type frame from './en/frame.json';
import type groups from './en/groups.json';
import type invitation from './en/invitation.json';
import type mail from './en/mail.json';
import type mailbox from './en/mailbox.json';
import type overview from './en/overview.json';
import type passkey from './en/passkey.json';
import type people from './en/people.json';
import type policies from './en/policies.json';
import type policy from './en/policy.json';
import type proof from './en/proof.json';
import type recovery from './en/recovery.json';
import type refusal from './en/refusal.json';
import type report from './en/report.json';
import type rules from './en/rules.json';
import type settings from './en/settings.json';
import type setup from './en/setup.json';
import type signin from './en/signin.json';
import type stepup from './en/stepup.json';

/** The IDs of all messages. A catalog that lacks one does not compile. */
export type MessageID = keyof (typeof base &
  typeof signin &
  typeof stepup &
  typeof proof &
  typeof address &
  typeof ends &
  typeof settings &
  typeof setup &
  typeof appearance &
  typeof mail &
  typeof mailbox &
  typeof recovery &
  typeof invitation &
  typeof refusal &
  typeof policies &
  typeof policy &
  typeof account &
  typeof frame &
  typeof groups &
  typeof people &
  typeof apps &
  typeof activity &
  typeof access &
  typeof passkey &
  typeof decisions &
  typeof alternatives &
  typeof console &
  typeof accessrequests &
  typeof checklist &
  typeof overview &
  typeof report &
  typeof rules);

/** A complete language: one flat map from message ID to text. */
export type Catalog = Readonly<Record<MessageID, string>>;
