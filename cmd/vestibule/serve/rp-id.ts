import { canBeRelyingPartyId } from '../../../kinds/people/passkey/rp-id.js';
import type { Log } from '../../../observability/log.js';
import { toStatusError } from '../../../registry/status/storage-errors.js';
import { prefixRange, type Storage } from '../../../storage/storage.js';
import { ConfigError } from '../options/config.js';

const key = 'meta/rpid';

/**
 * Returns the relying party ID (WebAuthn 3): the host of the base URL at the first start, which the
 * store keeps. It follows a move to another host only while there is no passkey; otherwise throws a
 * ConfigError. Logs a warning if browsers do not support passkeys for the host.
 */
export async function relyingPartyID(
  storage: Storage,
  baseURL: string,
  log?: Log,
): Promise<string> {
  const host = new URL(baseURL).hostname;
  if (!canBeRelyingPartyId(host)) {
    log?.warn(
      { baseURL },
      'passkeys are not offered: browsers support them only for a host name, not for an IP address',
    );
  }
  for (;;) {
    const { entry } = await toStatusError(storage.get(key));
    const stored = entry?.value.toString();
    if (stored !== undefined && (host === stored || host.endsWith(`.${stored}`))) return stored;
    if (
      stored !== undefined &&
      (await toStatusError(storage.list(prefixRange('objects/passkeys/'), { limit: 1 }))).entries
        .length > 0
    ) {
      throw new ConfigError([
        `--base-url: the passkeys in this store belong to ${stored}, but ${host} is not part of that domain`,
      ]);
    }
    const { committed } = await toStatusError(
      storage.commit(
        [{ key, is: entry ? entry.revision : 'absent' }],
        [{ put: key, value: Buffer.from(host) }],
      ),
    );
    if (committed) return host;
  }
}
