import { expect, test } from '@jest/globals';
import { defaultLimits } from '../../../kinds/limits/limit-settings.js';
import { withSettings } from '../../../kinds/settings/runtime-settings.js';
import { lifetimes } from '../../../provider/configuration/lifetimes.js';
import { startedSettings } from '../../support/started-settings.js';

const minute = 60_000;

test('what a process was started with wins over the object', () => {
  const started = {
    ...startedSettings,
    displayed: { 'limits-mails-per-network': 20, 'email-from': 'a@example.test' },
    sources: {
      'limits-mails-per-network': 'file',
      'email-from': 'VESTIBULE_EMAIL_FROM',
      'policy-time-zone': 'default',
    },
  };
  const spec = {
    limits: { mailsPerNetwork: 60, recoveryWait: '24h' },
    emailFrom: 'b@example.test',
    policyTimeZone: 'Europe/Berlin',
  };
  const { limits, emailFrom, policyTimeZone, displayed, sources } = withSettings(started, spec);
  expect(limits).toEqual({ ...defaultLimits, recoveryWait: 24 * 60 * minute });
  expect([emailFrom, policyTimeZone]).toEqual([startedSettings.emailFrom, 'Europe/Berlin']);
  expect(displayed).toMatchObject({
    'limits-mails-per-network': 20,
    'limits-recovery-wait': '24h',
    'email-from': 'a@example.test',
  });
  expect(sources).toMatchObject({
    'limits-mails-per-network': 'file',
    'limits-recovery-wait': 'spec',
    'policy-time-zone': 'spec',
  });
});

test('a value out of its bounds, as another release stored it, is not in force', () => {
  const spec = { limits: { recoveryWait: '1m', emailCodeTries: 11 }, policyTimeZone: 'Nowhere' };
  expect(withSettings(startedSettings, spec)).toEqual(startedSettings);
});

test('limits that contradict what a process was started with are not in force', () => {
  const started = {
    ...startedSettings,
    limits: { ...defaultLimits, sessionLifetime: 60 * minute, sessionIdleLifetime: 30 * minute },
    sources: { 'limits-session-lifetime': 'flag' },
  };
  const spec = { limits: { sessionIdleLifetime: '2h', recentSignIn: '20m' } };
  const { limits, sources } = withSettings(started, spec);
  expect(limits).toEqual({ ...started.limits, recentSignIn: 20 * minute });
  expect(sources['limits-session-idle-lifetime']).toBeUndefined();
});

test('lifetimes of sign-ins follow limits that change', () => {
  const limits = { ...defaultLimits };
  const ttl = lifetimes(limits);
  const client = {} as never;
  const now = (): number[] => [
    ttl.DeviceCode(),
    ttl.Interaction(),
    ttl.AccessToken(undefined, {} as never, client),
    ttl.AuthorizationCode(undefined, {} as never, client),
    ttl.IdToken(undefined, {} as never, client),
    ttl.Session(undefined, {} as never),
    ttl.Grant(undefined, { getOIDCScope: () => '' }),
  ];
  const before = now();
  for (const name of Object.keys(limits)) Object.assign(limits, { [name]: 2 * minute });
  expect(now()).toEqual([120, 240, 120, 120, 120, 120, 120 + 86_400]);
  for (const [i, lifetime] of before.entries()) expect(lifetime).not.toBe(now()[i]);
});
