import type { Log } from '../../../observability/log.js';
import type { Settings } from '../../../registry/kind.js';
import { readEpoch } from '../../../storage/epoch.js';
import type { Storage } from '../../../storage/storage.js';
import type { Config } from '../options/config.js';
import { component } from './api-description.js';
import { relyingPartyID } from './rp-id.js';

/** Returns the settings that kinds and the provider may use. */
export async function kindSettings(
  config: Config,
  baseURL: string,
  storage: Storage,
  log: Log,
): Promise<Settings> {
  const {
    limitFactor,
    limits,
    emailFrom,
    operators,
    allowPrivateNetwork,
    mockMail,
    deviceAuthorization,
    allowPrivateHTTPRedirects,
    nameFallback,
    policyTimeZone,
  } = config;
  return {
    component,
    baseURL,
    limitFactor,
    limits: { ...limits },
    emailFrom,
    operators,
    allowPrivateNetwork,
    mockMail,
    deviceAuthorization,
    allowPrivateHTTPRedirects,
    nameFallback,
    policyTimeZone,
    started: config,
    epoch: await readEpoch(storage),
    rpID: await relyingPartyID(storage, baseURL, log),
  };
}
