import { createHash } from 'node:crypto';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const roles = ['Belayer', 'Route setter', 'Librarian', 'Cook'];

/** Returns the member data of an account: invented, and always the same. */
function memberOf(account) {
  const [year, role, number, owed] = createHash('sha256').update(account).digest();
  return {
    member_since: String(2000 + (year % 25)),
    member_roles: [roles[role % 4], roles[(role + 1) % 4]],
    member_number: 1000 + number,
    dues_paid: owed % 2 === 0,
    dues_owed: owed % 2 === 0 ? '0 CHF' : `${owed} CHF`,
  };
}

/** The claims of each scope. Only claims of requested scopes are returned. */
const claimsOf = {
  membership: ['member_since', 'member_roles', 'member_number'],
  dues: ['dues_paid', 'dues_owed'],
};

/** Answers claims reviews that `issuer` signed for the audience `self`. */
export function clubhouse(issuer, self) {
  let keys;
  return async function review(authorization, body) {
    keys ??= createRemoteJWKSet(new URL(`${issuer}/oauth2/jwks`));
    const token = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1] ?? '';
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: self,
      typ: 'claims-review+jwt',
      requiredClaims: ['sub', 'exp', 'jti'],
    });
    const review = JSON.parse(body);
    if (review.kind !== 'ClaimsReview' || review.spec.account !== payload.sub) {
      throw new Error('about someone else');
    }
    const member = memberOf(payload.sub);
    const names = review.spec.scopes.flatMap((scope) => claimsOf[scope] ?? []);
    return {
      ...review,
      status: { claims: Object.fromEntries(names.map((name) => [name, member[name]])) },
    };
  };
}
