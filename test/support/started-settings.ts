import { defaultLimits } from '../../kinds/limits/limit-settings.js';
import type { RuntimeSettings } from '../../kinds/settings/runtime-settings.js';

/** The settings of a process that is started with none that Settings can change. */
export const startedSettings: RuntimeSettings = {
  limits: defaultLimits,
  emailFrom: 'no-reply@example.test',
  nameFallback: 'LocalPart',
  policyTimeZone: 'UTC',
  displayed: {},
  sources: {},
};
