import { ConfigError } from '../options/config.js';
import { canBeRelyingPartyId } from '../../../kinds/passkey/rp-id.js';
import { toStatusError } from '../../../registry/storage-errors.js';
import type { Log } from '../../../observability/log.js';
import { prefixRange, type Storage } from '../../../storage/storage.js';

const key = 'meta/rpid';

/**
 * The host that passkeys belong to (WebAuthn 3, relying party id): that of the base URL at the
 * first start, kept ever after; it follows a move to another host only while there is no passkey,
 * else the start stops. Tells the log of a host that browsers take no passkeys for.
 */
export async function relyingPartyID(
  storage: Storage,
  baseURL: string,
  log?: Log,
): Promise<string> {
  const host = new URL(baseURL).hostname;
  if (!canBeRelyingPartyId(host))
    log?.warn(
      { baseURL },
      'passkeys are not offered: browsers take them only where the base URL has a name in it, not an IP address',
    );
  for (;;) {
    const { entry } = await toStatusError(storage.get(key));
    const held = entry?.value.toString();
    if (held !== undefined && (host === held || host.endsWith(`.${held}`))) return held;
    if (
      held !== undefined &&
      (await toStatusError(storage.list(prefixRange('objects/passkeys/'), { limit: 1 }))).entries
        .length > 0
    )
      throw new ConfigError([
        `--base-url: the passkeys in this store belong to ${held}, which ${host} is not part of`,
      ]);
    const { committed } = await toStatusError(
      storage.commit(
        [{ key, is: entry ? entry.revision : 'absent' }],
        [{ put: key, value: Buffer.from(host) }],
      ),
    );
    if (committed) return host;
  }
}
