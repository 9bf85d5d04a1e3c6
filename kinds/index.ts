import type { Action } from '../registry/action.js';
import type { AnyKind } from '../registry/kind.js';
import { Account } from './account/account.js';
import { disable, enable } from './account/disable.js';
import { exportOf } from './account/export.js';
import { newAddress, newAddressChallenge } from './account/newaddress.js';
import { ClaimsProvider } from './claimsprovider.js';
import { ClaimsReview } from './claimsreview.js';
import { Client } from './client.js';
import { clientSecret } from './clientsecret.js';
import { Grant } from './grant.js';
import { Group } from './group.js';
import { readAccount, setUpAccount } from './interaction/account.js';
import { consent } from './interaction/consent.js';
import { readDecision } from './interaction/decision.js';
import { emailChallenge } from './interaction/emailchallenge.js';
import { Interaction } from './interaction/interaction.js';
import { login } from './interaction/login.js';
import { passkeyChallenge } from './interaction/passkeychallenge.js';
import { addPasskeyInSetup } from './interaction/passkeys.js';
import { MockMessage } from './mockmessage.js';
import { accountPasskeyChallenge } from './passkey/accountchallenge.js';
import { Passkey } from './passkey/passkey.js';
import { PolicyDecision } from './policy/decision.js';
import { Policy } from './policy/policy.js';
import { cancelByToken } from './recovery/cancel.js';
import { Recovery } from './recovery/recovery.js';
import { startRecovery } from './recovery/start.js';
import { Session } from './session.js';

/** The table of contents of the API: every kind, a line each. */
export const kinds: readonly AnyKind[] = [
  Interaction,
  Session,
  Account,
  Passkey,
  Recovery,
  Grant,
  PolicyDecision,
  Policy,
  Client,
  ClaimsProvider,
  ClaimsReview,
  Group,
  MockMessage,
];

/** Every action, a line each. */
export const actions: readonly Action[] = [
  emailChallenge,
  passkeyChallenge,
  login,
  readAccount,
  readDecision,
  setUpAccount,
  newAddressChallenge,
  newAddress,
  exportOf(kinds),
  startRecovery,
  cancelByToken,
  disable,
  enable,
  addPasskeyInSetup,
  consent,
  accountPasskeyChallenge,
  clientSecret,
];
