require "json"
require "rack/session/cookie"
require "omniauth_openid_connect"

# Its discovery speaks https, unless it is told to speak http.
SWD.url_builder = URI::HTTP unless "https://id.example.org".start_with?("https:")
use Rack::Session::Cookie, secret: "<64 random bytes, base64url>"
use OmniAuth::Builder do
  provider :openid_connect,
    name: :openid_connect,
    scope: [:openid, :email, :profile],
    response_type: :code,
    issuer: "https://id.example.org",
    discovery: true,
    uid_field: "sub",
    pkce: true,
    client_options: {
      identifier: "omniauth",
      secret: "<secret>",
      redirect_uri: "https://app.example.org/auth/openid_connect/callback"
    }
end

run lambda { |env|
  person = env["omniauth.auth"]
  next [200, { "content-type" => "application/json" }, [JSON.generate(person.info)]] if person
  token = Rack::Protection::AuthenticityToken.token(env["rack.session"])
  input = %(<input type="hidden" name="authenticity_token" value="#{token}">)
  [200, { "content-type" => "text/html" }, [%(<form method="post" action="/auth/openid_connect">#{input}</form>)]]
}
