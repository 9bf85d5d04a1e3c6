import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { catalogs } from '../../i18n/languages.js';
import { builtInScopes, reservedClaims } from '../../kinds/apps/claims/scopes.js';

type Messages = Readonly<Record<string, string>>;

/** Claims of a token about itself or its request; a ledger has claims about the person. */
const ofTokens =
  'iss aud exp nbf iat jti nonce azp at_hash c_hash s_hash events cnf scope client_id'.split(' ');

const claims = [...reservedClaims].filter((claim) => !ofTokens.includes(claim));

test('the claims about a person are those of the scopes and those of the sign-in', () => {
  const ofScopes = builtInScopes.flatMap((scope) => scope.claims.map(({ name }) => name));
  expect(new Set(claims)).toEqual(new Set([...ofScopes, 'sub', 'sid', 'acr', 'amr', 'auth_time']));
});

test.each(Object.keys(catalogs))('every claim that the ledger can have has words in %s', (tag) => {
  const file = `ui/messages/${tag}/account.json`;
  const words: Messages = {
    ...catalogs[tag],
    ...(JSON.parse(readFileSync(file, 'utf8')) as Messages),
  };
  expect(claims.filter((claim) => !words[`claim.${claim}`])).toEqual([]);
  expect(claims.filter((claim) => words[`claim.${claim}`] === claim)).toEqual([]);
});
