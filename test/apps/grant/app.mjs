import express from 'express';
import session from 'express-session';
import grant from 'grant';

const app = express();
app.use(
  session({ secret: '<32 random bytes, base64url>', resave: false, saveUninitialized: true }),
);
app.use(
  grant.express({
    defaults: { origin: 'https://app.example.org', transport: 'session', state: true, nonce: true },
    vestibule: {
      oauth: 2,
      authorize_url: 'https://id.example.org/oauth2/auth',
      access_url: 'https://id.example.org/oauth2/token',
      profile_url: 'https://id.example.org/oauth2/userinfo',
      key: 'grant',
      secret: '<secret>',
      scope: ['openid', 'email', 'profile'],
      scope_delimiter: ' ',
      response: ['tokens', 'profile'],
      callback: '/hello',
    },
  }),
);
app.get('/hello', (request, response) => response.json(request.session.grant.response.profile));
app.listen(3000);
