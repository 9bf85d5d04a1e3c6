from flask import Flask, jsonify, redirect, url_for
from flask_dance.consumer import OAuth2ConsumerBlueprint

app = Flask(__name__)
app.secret_key = "<32 random bytes, base64url>"
vestibule = OAuth2ConsumerBlueprint(
    "vestibule",
    __name__,
    client_id="flask-dance",
    client_secret="<secret>",
    base_url="https://id.example.org",
    token_url="https://id.example.org/oauth2/token",
    authorization_url="https://id.example.org/oauth2/auth",
    scope=["openid", "email", "profile"],
)
app.register_blueprint(vestibule, url_prefix="/login")


@app.route("/")
def index():
    if not vestibule.session.authorized:
        return redirect(url_for("vestibule.login"))
    return jsonify(vestibule.session.get("/oauth2/userinfo").json())
