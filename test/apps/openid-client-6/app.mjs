import express from 'express';
import session from 'express-session';
import * as client from 'openid-client';

const issuer = new URL('https://id.example.org');
const redirect = 'https://app.example.org/cb';
const execute = issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [];
const config = await client.discovery(issuer, 'openid-client-6', '<secret>', undefined, {
  execute,
});
const app = express();
app.use(
  session({ secret: '<32 random bytes, base64url>', resave: false, saveUninitialized: true }),
);
app.get('/', async (request, response) => {
  request.session.verifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirect,
    scope: 'openid email profile',
    code_challenge: await client.calculatePKCECodeChallenge(request.session.verifier),
    code_challenge_method: 'S256',
  });
  response.redirect(url.href);
});
app.get('/cb', async (request, response) => {
  const checks = { pkceCodeVerifier: request.session.verifier };
  const url = new URL(request.url, redirect);
  const tokens = await client.authorizationCodeGrant(config, url, checks);
  response.json(await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub));
});
app.listen(3000);
