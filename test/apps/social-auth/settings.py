INSTALLED_APPS += ["social_django"]
AUTHENTICATION_BACKENDS = [
    "social_core.backends.open_id_connect.OpenIdConnectAuth",
    "django.contrib.auth.backends.ModelBackend",
]
SOCIAL_AUTH_OIDC_OIDC_ENDPOINT = "https://id.example.org"
SOCIAL_AUTH_OIDC_KEY = "social-auth"
SOCIAL_AUTH_OIDC_SECRET = "<secret>"
LOGIN_REDIRECT_URL = "/accounts/profile/"
