package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log"
	"net/http"

	"github.com/zitadel/oidc/v3/pkg/client/rp"
	httphelper "github.com/zitadel/oidc/v3/pkg/http"
	"github.com/zitadel/oidc/v3/pkg/oidc"
)

func main() {
	key := []byte("a key of 32 bytes, only for test")
	cookies := httphelper.NewCookieHandler(key, key, httphelper.WithUnsecure())
	provider, err := rp.NewRelyingPartyOIDC(context.Background(), "https://id.example.org", "zitadel-oidc", "<secret>",
		"https://app.example.org/auth/callback", []string{"openid", "email", "profile"},
		rp.WithCookieHandler(cookies), rp.WithPKCE(cookies), rp.WithSigningAlgsFromDiscovery())
	if err != nil {
		log.Fatal(err)
	}
	show := func(w http.ResponseWriter, r *http.Request, tokens *oidc.Tokens[*oidc.IDTokenClaims], state string, rp rp.RelyingParty, info *oidc.UserInfo) {
		json.NewEncoder(w).Encode(info)
	}
	http.Handle("/login", rp.AuthURLHandler(rand.Text, provider, rp.WithPromptURLParam("Welcome back!")))
	http.Handle("/auth/callback", rp.CodeExchangeHandler(rp.UserinfoCallback(show), provider))
	log.Fatal(http.ListenAndServe(":3000", nil))
}
