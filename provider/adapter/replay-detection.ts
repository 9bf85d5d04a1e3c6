import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { errors, type KoaContext, Provider } from 'oidc-provider';
import type { ProviderServices } from '../context/context.js';
import { withProviderErrors } from '../context/errors.js';
import { recordKey } from '../context/records.js';
import { clockTolerance } from './adapter.js';

/**
 * Lets oidc-provider refuse each use of a client assertion or DPoP proof but the first in the same way,
 * one after another and at once. A proof that was used is `invalid_dpop_proof` at every endpoint (RFC 9449
 * §5, §7.1): `invalid_grant` and `invalid_token` would say that the code or token is of no use.
 */
export function detectReplays(services: ProviderServices, provider: Provider): void {
  provider.ReplayDetection.unique = async (issuer, jti, exp) => {
    const isFirst = await isFirstUse(services, issuer, jti, exp);
    if (!isFirst && Provider.ctx && jti === proofID(Provider.ctx)) {
      throw new errors.InvalidDpopProof('DPoP proof JWT Replay detected');
    }
    return isFirst;
  };
}

/** Returns the `jti` of the DPoP proof of a request; undefined without a proof that can be read. */
function proofID(ctx: KoaContext): string | undefined {
  try {
    return decodeJwt(ctx.get('DPoP')).jti;
  } catch {
    return undefined;
  }
}

/**
 * Records the id of a proof, until `exp` in seconds since the epoch, in a commit of its own. Returns true
 * for its first use; of concurrent ones for one of them (RFC 7523 §3, RFC 9449 §11.1).
 */
export async function isFirstUse(
  services: Pick<ProviderServices, 'store' | 'secrets' | 'runtime'>,
  issuer: string,
  jti: string,
  exp: number,
): Promise<boolean> {
  const model = 'ReplayDetection';
  const id = createHash('sha256').update(`${issuer} ${jti}`).digest('base64url');
  const key = recordKey(model, id);
  const { entry } = await withProviderErrors(services.store.storage.get(key));
  const isLive = entry && (entry.expires ?? Infinity) > Date.now();
  const expires = (Math.floor(exp) + clockTolerance + 5) * 1000;
  const part = {
    checks: [{ key, is: entry ? entry.revision : ('absent' as const) }],
    writes: [
      { put: key, value: services.secrets.records.seal(key, model, { jti: id, exp }), expires },
    ],
  };
  if (!isLive && (await withProviderErrors(services.store.commit([part]))).committed) return true;
  services.runtime.metrics?.singleUseRefused.inc({ kind: model });
  return false;
}
