import express from 'express';
import session from 'express-session';
import passport from 'passport';
import OpenIDConnectStrategy from 'passport-openidconnect';

passport.use(
  new OpenIDConnectStrategy(
    {
      issuer: 'https://id.example.org',
      authorizationURL: 'https://id.example.org/oauth2/auth',
      tokenURL: 'https://id.example.org/oauth2/token',
      userInfoURL: 'https://id.example.org/oauth2/userinfo',
      clientID: 'passport',
      clientSecret: '<secret>',
      callbackURL: 'https://app.example.org/cb',
      scope: ['openid', 'email', 'profile'],
    },
    (issuer, profile, done) => done(null, profile),
  ),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));
const app = express();
app.use(
  session({ secret: '<32 random bytes, base64url>', resave: false, saveUninitialized: false }),
);
app.use(passport.session());
app.get('/login', passport.authenticate('openidconnect'));
app.get(
  '/cb',
  passport.authenticate('openidconnect', { failWithError: true }),
  (request, response) => {
    response.redirect('/');
  },
);
app.get('/', (request, response) => {
  response.json(request.user);
});
app.listen(3000);
