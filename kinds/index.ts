import type { Action } from '../registry/action.js';
import type { AnyKind } from '../registry/kind.js';
import { AccessRequest } from './access/accessrequest/access-request.js';
import { approve, deny } from './access/accessrequest/decide.js';
import { acceptByToken } from './access/invitation/first-operator.js';
import { Invitation } from './access/invitation/invitation.js';
import { mailAgain } from './access/invitation/mail-again.js';
import { apps } from './accountactions/apps.js';
import { newAddress, newAddressChallenge } from './accountactions/change-email.js';
import { disable, enable } from './accountactions/disable.js';
import { sendTestMail } from './accountactions/test-mail.js';
import { Appearance } from './appearance/appearance.js';
import { mailSamples } from './appearance/mail-samples.js';
import { Audience } from './apps/audience/audience.js';
import { ClaimsProvider } from './apps/claims/claims-provider.js';
import { ClaimsReview } from './apps/claims/claims-review.js';
import { Client } from './apps/client/client.js';
import { clientSecret } from './apps/client/rotate-secret.js';
import { Grant } from './apps/grant.js';
import { HourlyCount } from './hourly-count.js';
import { readAccount, setUpAccount } from './interaction/account-setup.js';
import { consent } from './interaction/consent.js';
import { readDecision } from './interaction/decision.js';
import { emailChallenge } from './interaction/email-challenge.js';
import { Interaction } from './interaction/interaction.js';
import { login } from './interaction/login.js';
import { passkeyChallenge } from './interaction/passkey-challenge.js';
import { addPasskeyInSetup } from './interaction/register-passkey.js';
import { MockMessage } from './mail/mock-message.js';
import { Account } from './people/account/account.js';
import { exportAction } from './people/account/export.js';
import { Group } from './people/group/group.js';
import { Passkey } from './people/passkey/passkey.js';
import { accountPasskeyChallenge } from './people/passkey/registration-challenge.js';
import { cancelByToken } from './people/recovery/cancel.js';
import { Recovery } from './people/recovery/recovery.js';
import { startRecovery } from './people/recovery/start.js';
import { Session } from './people/session/session.js';
import { Policy } from './policy/policy.js';
import { PolicyDecision } from './policy/policy-decision.js';
import { Replica } from './replica.js';
import { Settings } from './settings/settings.js';

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
  Settings,
  Replica,
  HourlyCount,
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
  mailSamples,
  startRecovery,
  cancelByToken,
  acceptByToken,
  mailAgain,
  disable,
  enable,
  addPasskeyInSetup,
  consent,
  accountPasskeyChallenge,
  clientSecret,
  approve,
  deny,
];
