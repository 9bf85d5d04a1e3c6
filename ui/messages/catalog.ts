import type account from './account.json';
import type base from './base.json';
import type decisions from './decisions.json';
import type mailbox from './mailbox.json';
import type passkey from './passkey.json';
import type policy from './policy.json';
import type proof from './proof.json';
import type recovery from './recovery.json';
import type refusal from './refusal.json';
import type setup from './setup.json';
import type signin from './signin.json';

/** The IDs of all messages. A catalog that lacks one does not compile. */
export type MessageID = keyof (typeof base &
  typeof signin &
  typeof proof &
  typeof setup &
  typeof mailbox &
  typeof recovery &
  typeof refusal &
  typeof policy &
  typeof account &
  typeof passkey &
  typeof decisions);

/** A complete language: one flat map from message ID to text. */
export type Catalog = Readonly<Record<MessageID, string>>;
