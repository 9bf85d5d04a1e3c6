import type { Action } from '../registry/action.js';
import type { AnyKind } from '../registry/kind.js';
import { AccessRequest } from './accessrequest/access-request.js';
import { approve, deny } from './accessrequest/decide.js';
import { Account } from './account/account.js';
import { apps } from './accountactions/apps.js';
import { disable, enable } from './accountactions/disable.js';
import { sendTestMail } from './accountactions/test-mail.js';
import { exportAction } from './account/export.js';
import { newAddress, newAddressChallenge } from './accountactions/change-email.js';
import { Appearance } from './appearance/appearance.js';
import { Audience } from './audience/audience.js';
import { ClaimsProvider } from './claims/claims-provider.js';
import { ClaimsReview } from './claims/claims-review.js';
import { Client } from './client/client.js';
import { clientSecret } from './client/rotate-secret.js';
import { Grant } from './grant.js';
import { Group } from './group/group.js';
import { readAccount, setUpAccount } from './interaction/account-setup.js';
import { consent } from './interaction/consent.js';
import { readDecision } from './interaction/decision.js';
import { emailChallenge } from './interaction/email-challenge.js';
import { Interaction } from './interaction/interaction.js';
import { login } from './interaction/login.js';
import { passkeyChallenge } from './interaction/passkey-challenge.js';
import { addPasskeyInSetup } from './interaction/register-passkey.js';
import { acceptByToken } from './invitation/first-operator.js';
import { Invitation } from './invitation/invitation.js';
import { MockMessage } from './mail/mock-message.js';
import { accountPasskeyChallenge } from './passkey/registration-challenge.js';
import { Passkey } from './passkey/passkey.js';
import { PolicyDecision } from './policy/policy-decision.js';
import { Policy } from './policy/policy.js';
import { cancelByToken } from './recovery/cancel.js';
import { Recovery } from './recovery/recovery.js';
import { startRecovery } from './recovery/start.js';
import { Replica } from './replica.js';
import { Session } from './session/session.js';

/** Every kind of the API, one a line. */
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
  Audience,
  ClaimsReview,
  Group,
  AccessRequest,
  MockMessage,
  Invitation,
  Appearance,
  Replica,
];

/** Every action, one a line. */
export const actions: readonly Action[] = [
  emailChallenge,
  passkeyChallenge,
  login,
  readAccount,
  readDecision,
  setUpAccount,
  newAddressChallenge,
  newAddress,
  exportAction(kinds),
  apps,
  sendTestMail,
  startRecovery,
  cancelByToken,
  acceptByToken,
  disable,
  enable,
  addPasskeyInSetup,
  consent,
  accountPasskeyChallenge,
  clientSecret,
  approve,
  deny,
];
