import { passkey, person, recovery } from './account.js';
import { at, page, press } from './account-scenes.js';
import { FakeRefusal } from './answer.js';
import type { Script } from './fake-api.js';
import { inSeconds } from './interaction.js';
import { list, me } from './policy.js';
import type { Scene } from './scene.js';

const waiting: Script = { 'GET recoveries': list('Recovery', [recovery()]) };
const link = `${me}-r1.${'a'.repeat(43)}`;
const stop = (script: Script, act?: Scene['act']): Scene => ({
  page: 'recovery',
  fragment: link,
  script,
  ...(act && { act }),
});
const cancel = `POST recoveries/${me}-r1/cancel`;

const first = (script: Script, act?: Scene['act']): Scene => ({
  page: 'invitation',
  fragment: `first-operator.${'a'.repeat(43)}`,
  script,
  ...(act && { act }),
});
const accept = 'POST invitations/first-operator/accept';

/** Account recovery: on the account page, and from the link of a mail; the first operator. */
export const recoveryScenes: Record<string, () => Scene> = {
  'account-recovery': () => page(waiting),
  'account-recovery-operator': () =>
    page({ 'GET recoveries': list('Recovery', [recovery({ startedBy: 'Operator' })]) }),
  'account-recovery-down': () =>
    page(
      {
        ...waiting,
        [`DELETE recoveries/${me}-r1`]: new FakeRefusal(503, { retryAfterSeconds: 20 }),
      },
      press('recovery.stop'),
    ),
  'account-recovery-ask': () => page({}, press('recovery.lost')),
  'account-recovery-resumed': () => at('recover'),
  'account-passkey-weak': () =>
    page(
      {
        'GET passkeys': list('Passkey', [
          passkey(1, 'MacBook', { fullStrengthTimestamp: inSeconds(170_000) }),
        ]),
      },
      undefined,
      person({}, 1),
    ),
  'recovery-stop': () => stop({}),
  'recovery-stopped': () => stop({ [cancel]: recovery({ phase: 'Cancelled' }) }, press('stop.go')),
  'recovery-over': () => stop({ [cancel]: new FakeRefusal(404) }, press('stop.go')),
  'recovery-down': () =>
    stop({ [cancel]: new FakeRefusal(503, { retryAfterSeconds: 20 }) }, press('stop.go')),
  'invitation-first': () => first({}),
  'invitation-done': () => first({ [accept]: {} }, press('first.go')),
  'invitation-over': () => first({ [accept]: new FakeRefusal(409) }, press('first.go')),
  'recovery-bad': () => ({ page: 'recovery', fragment: 'nothing', script: {} }),
};
