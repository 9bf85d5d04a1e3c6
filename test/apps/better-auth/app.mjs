import { betterAuth } from 'better-auth';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { genericOAuth } from 'better-auth/plugins';
import express from 'express';

const auth = betterAuth({
  baseURL: 'https://app.example.org',
  secret: '<32 random bytes, base64url>',
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: 'vestibule',
          clientId: 'better-auth',
          clientSecret: '<secret>',
          discoveryUrl: 'https://id.example.org/.well-known/openid-configuration',
          scopes: ['openid', 'email', 'profile'],
        },
      ],
    }),
  ],
});
const app = express();
app.all('/api/auth/{*any}', toNodeHandler(auth));
app.get('/sign-in', async (_request, response) => {
  const body = { provider: 'vestibule', callbackURL: '/' };
  const answer = await auth.api.signInSocial({ body, asResponse: true });
  response.setHeader('Set-Cookie', answer.headers.getSetCookie());
  response.redirect((await answer.json()).url);
});
app.get('/', async (request, response) => {
  response.json(await auth.api.getSession({ headers: fromNodeHeaders(request.headers) }));
});
app.listen(3000);
