import oauth2 from '@fastify/oauth2';
import fastify from 'fastify';

const app = fastify();
app.register(oauth2, {
  name: 'vestibule',
  scope: ['openid', 'email', 'profile'],
  credentials: { client: { id: 'fastify-oauth2', secret: '<secret>' } },
  startRedirectPath: '/login',
  callbackUri: 'https://app.example.org/login/callback',
  discovery: { issuer: 'https://id.example.org' },
});
app.get('/login/callback', async function callback(request) {
  const { token } = await this.vestibule.getAccessTokenFromAuthorizationCodeFlow(request);
  return this.vestibule.userinfo(token.access_token);
});
app.listen({ host: 'localhost', port: 3000 });
