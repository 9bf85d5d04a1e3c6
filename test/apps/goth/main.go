package main

import (
	"encoding/json"
	"log"
	"net/http"

	"github.com/gorilla/sessions"
	"github.com/markbates/goth"
	"github.com/markbates/goth/gothic"
	"github.com/markbates/goth/providers/openidConnect"
)

func main() {
	gothic.Store = sessions.NewCookieStore([]byte("<32 random bytes, base64url>"))
	gothic.GetProviderName = func(*http.Request) (string, error) { return "openid-connect", nil }
	provider, err := openidConnect.New("goth", "<secret>", "https://app.example.org/auth/openid-connect/callback",
		"https://id.example.org/.well-known/openid-configuration", "email", "profile")
	if err != nil {
		log.Fatal(err)
	}
	goth.UseProviders(provider)
	http.HandleFunc("/auth/openid-connect", gothic.BeginAuthHandler)
	http.HandleFunc("/auth/openid-connect/callback", func(w http.ResponseWriter, r *http.Request) {
		user, err := gothic.CompleteUserAuth(w, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		json.NewEncoder(w).Encode(map[string]string{"id": user.UserID, "email": user.Email, "name": user.Name, "nick": user.NickName})
	})
	log.Fatal(http.ListenAndServe(":3000", nil))
}
