import express from 'express';
import session from 'express-session';
import { generators, Issuer } from 'openid-client-5';

const redirect = 'https://app.example.org/cb';
const issuer = await Issuer.discover('https://id.example.org');
const client = new issuer.Client({
  client_id: 'openid-client-5',
  client_secret: '<secret>',
  redirect_uris: [redirect],
  response_types: ['code'],
});
const app = express();
app.use(
  session({ secret: '<32 random bytes, base64url>', resave: false, saveUninitialized: true }),
);
app.get('/', (request, response) => {
  request.session.verifier = generators.codeVerifier();
  const url = client.authorizationUrl({
    scope: 'openid email profile',
    code_challenge: generators.codeChallenge(request.session.verifier),
    code_challenge_method: 'S256',
  });
  response.redirect(url);
});
app.get('/cb', async (request, response) => {
  const checks = { code_verifier: request.session.verifier };
  const tokens = await client.callback(redirect, client.callbackParams(request), checks);
  response.json(await client.userinfo(tokens.access_token));
});
app.listen(3000);
