// Generated from the settings by hack/gen. Do not edit.

/** What each setting of the service is, in English. */
export const settingDescriptions: Readonly<Record<string, string>> = {
  'base-url':
      "The origin of every link, cookie and token, for example https://id.example.org. " +
      "Defaults to http://localhost:<port> when listening on loopback.",
  'bind-address':
      "Address to listen on.",
  'port':
      "Port for plain http; 0 chooses a free one.",
  'secure-port':
      "Additional port for https; 0 chooses a free one. Not opened by default. kubectl " +
      "sends tokens over https only.",
  'tls-cert-file':
      "Certificate chain for the secure port in PEM. By default the service generates a " +
      "self-signed certificate in the data folder: tls.crt, tls.key. Reloaded when the " +
      "file changes.",
  'tls-private-key-file':
      "Private key of that certificate in PEM. Other users of the machine must not be " +
      "able to read it.",
  'tls-min-version':
      "Minimum TLS version: VersionTLS12 or VersionTLS13.",
  'requestheader-client-ca-file':
      "CA certificates (PEM) of the trusted front proxies, such as kube-apiserver. " +
      "Identity headers are accepted on the secure port only with a client certificate " +
      "of these CAs, and ignored when unset. Reloaded when the file changes.",
  'requestheader-allowed-names':
      "Allowed common names of those client certificates; if empty, any name.",
  'requestheader-username-headers':
      "Headers with the username; the first that is present is used.",
  'requestheader-group-headers':
      "Headers with the groups, one group a header.",
  'requestheader-extra-headers-prefix':
      "Prefixes of headers with extra attributes of the user.",
  'requestheader-uid-headers':
      "Headers with the uid of the user, such as x-remote-uid. Set it only if the front " +
      "proxy sends them: kube-apiserver 1.32 and later.",
  'authentication-skip-lookup':
      "If false, the requestheader settings come from ConfigMap " +
      "kube-system/extension-apiserver-authentication and follow its changes. Works " +
      "only in a pod.",
  'data-dir':
      "Folder of the embedded store, and of the keys and the certificate that the first " +
      "start generates.",
  'etcd-servers':
      "URLs of the etcd servers to use instead of the embedded store.",
  'etcd-prefix':
      "Prefix of every key in etcd.",
  'etcd-cafile':
      "CA certificate of etcd in PEM.",
  'etcd-certfile':
      "Client certificate for etcd in PEM; requires etcd-keyfile. The service " +
      "reconnects when the CA, the certificate or the key changes.",
  'etcd-keyfile':
      "Private key of that client certificate in PEM.",
  'etcd-compaction-interval':
      "Minimum age of history before compaction; applies to both stores.",
  'manifests':
      "Folder of YAML files with Clients, ClaimsProviders, Groups and at most one " +
      "Policy, applied at start.",
  'smtp-url':
      "URL of the mail server, smtp://user:password@host:port or smtps://…. A file is " +
      "reloaded when it changes.",
  'mock-mail':
      "Keep mails in the mock mailbox instead of sending them. Anyone who can reach the " +
      "service can read the mailbox, so requests must name the host of the base URL or " +
      "loopback.",
  'allow-mock-mail':
      "Allow mock mail with etcd or a public base URL.",
  'email-from':
      "Sender address of all mail.",
  'keys-file':
      "File of cookie, signing and sealing keys. Generated in the data folder for the " +
      "embedded store, required with etcd. Reloaded when the file changes.",
  'operators':
      "Email addresses of the operators, used until Group operators has members.",
  'device-authorization':
      "If false, the device flow (RFC 8628) is off: neither the command nor other " +
      "devices can sign in. Existing sign-ins stay valid until signed out.",
  'allow-private-network':
      "Private networks (CIDR) that outbound requests may reach.",
  'trusted-proxies':
      "Networks (CIDR) of the proxies whose X-Forwarded-For header is trusted.",
  'max-requests-inflight':
      "Maximum number of concurrent read-only requests.",
  'max-mutating-requests-inflight':
      "Maximum number of concurrent mutating requests.",
  'shutdown-delay-duration':
      "How long to keep serving after SIGTERM while readiness fails.",
  'limit-factor':
      "Multiplies every rate limit on requests and mails; for load tests.",
  'metrics-port':
      "Port for /metrics and /configz, plain http on the bind address; 0 chooses a free " +
      "one. Not opened by default. Expose it to the monitoring network only.",
  'audit-log-path':
      "File for audit events, one JSON line each, or - for standard output. Off by " +
      "default. Only this log contains the network addresses of callers. SIGHUP reopens " +
      "the file.",
  'logging-format':
      "Log format: json or text.",
  'log-level':
      "Log level: debug, info, warn, error or silent.",
  'limits-interaction-lifetime':
      "How long a sign-in may take. Its record and cookie stay twice as long. From 5m " +
      "to 24h.",
  'limits-sign-in-idle':
      "How long an unverified sign-in lasts without a request from its browser. From 2m " +
      "to 24h.",
  'limits-unproven-share':
      "Share of the store for unverified sign-ins: of the etcd quota, or of 2Gi. Above " +
      "it, the longest idle ones are deleted first. From 1% to 50%.",
  'limits-email-code-lifetime':
      "Lifetime of an emailed code or link. From 1m to 1h.",
  'limits-email-code-digits':
      "Digits of an emailed code. From 6 to 8.",
  'limits-email-code-tries':
      "Attempts to enter the code of one mail. From 1 to 10.",
  'limits-email-resend-wait':
      "How long to wait for another mail in the same sign-in. From 10s to 10m.",
  'limits-mail-window':
      "Window in which mails are counted. From 1m to 24h.",
  'limits-mails-per-known-address':
      "Mails to one address in mailWindow, for browsers that signed in with it before. " +
      "From 1 to 1000.",
  'limits-mails-per-address':
      "Mails to one address in mailWindow, for all other browsers together. From 1 to " +
      "1000.",
  'limits-mails-per-address-day':
      "Mails to one address in a day, for all other browsers together. From 1 to 10000.",
  'limits-known-browser-lifetime':
      "How long a browser can prove that it signed in with an address. From 24h to " +
      "9600h.",
  'limits-mails-per-interaction':
      "Mails from one sign-in in mailWindow. From 1 to 1000.",
  'limits-mails-per-network':
      "Mails for one client network in mailWindow. From 1 to 100000.",
  'limits-mails-in-all':
      "Mails in mailWindow, for the whole service; mails for browsers that signed in " +
      "with the address before do not count. From 10 to 10000000.",
  'limits-network-factor-middle':
      "Factor by which a /56 of IPv6 may exceed the limit of a /64, for every limit by " +
      "network. From 1 to 256.",
  'limits-network-factor-wide':
      "Factor by which a /48 of IPv6 may exceed the limit of a /64, and a /24 of IPv4 " +
      "that of one address. From 1 to 1000.",
  'limits-limit-records':
      "New records of limits in a minute, for the whole service. From 100 to 1000000.",
  'limits-wrong-code-window':
      "Window in which wrong codes are counted. From 1m to 24h.",
  'limits-wrong-codes-per-network':
      "Wrong codes from one client network in wrongCodeWindow. From 5 to 100000.",
  'limits-wrong-codes-in-all':
      "Wrong codes in wrongCodeWindow, for the whole service; beyond that, mails have " +
      "only the link. From 10 to 1000000.",
  'limits-wrong-code-decay':
      "Time after which wrongCodesPerAddress wrong codes of an address, and one of its " +
      "pauses, are forgotten. From 1h to 720h.",
  'limits-wrong-codes-per-address':
      "Wrong codes in a row for one address, after which its codes are paused; links " +
      "and passkeys keep working. From 10 to 1000.",
  'limits-invitation-lifetime':
      "How long an Invitation can be accepted if its creator does not say. From 1h to " +
      "8760h.",
  'limits-invitations-per-address-day':
      "Invitations mailed to one address in a day. From 1 to 1000.",
  'limits-invitations-per-account-day':
      "Invitations that one account sends in a day. From 1 to 1000000.",
  'limits-session-idle-lifetime':
      "How long a session lasts without use. From 5m to 2160h.",
  'limits-session-lifetime':
      "Maximum lifetime of a session. From 5m to 8760h.",
  'limits-recent-sign-in':
      "Maximum age of a sign-in that allows changes of sign-in methods. From 1m to 1h.",
  'limits-authorization-request-size':
      "Bytes of an authorization, pushed, device or sign-out request. From 2Ki to 15Ki.",
  'limits-authorization-parameter-size':
      "Bytes of a request parameter without a limit of its own. From 256 to 4Ki.",
  'limits-sign-in-window':
      "Window in which bytes of sign-ins are counted. From 1m to 24h.",
  'limits-sign-in-bytes-per-network':
      "Bytes stored for requests of one client network in signInWindow. From 64Ki to " +
      "1Gi.",
  'limits-sign-in-bytes-in-all':
      "Bytes stored for requests of all client networks in signInWindow. From 1Mi to " +
      "64Gi.",
  'limits-state-size':
      "Bytes of the parameter state. From 128 to 4Ki.",
  'limits-nonce-size':
      "Bytes of the parameter nonce. From 64 to 4Ki.",
  'limits-redirect-uri-size':
      "Bytes of the parameter redirect_uri. From 256 to 4Ki.",
  'limits-signed-parameter-size':
      "Bytes of the parameters id_token_hint, client_assertion and request. From 1Ki to " +
      "15Ki.",
  'limits-requests-per-network':
      "Authorization requests from one client network in a minute; the same number each " +
      "for pushed requests, device authorization requests, user codes and sign-outs. " +
      "From 10 to 1000000.",
  'limits-proofs-per-network':
      "Attempts to sign in (by code, link or passkey) from one client network in a " +
      "minute; the same number of codes for new addresses. From 10 to 1000000.",
  'limits-passkeys-per-network':
      "Passkeys that one client network may register in a minute; the same number of " +
      "WebAuthn challenges. From 10 to 1000000.",
  'limits-challenges-per-session':
      "WebAuthn challenges for one sign-in or session in two hours. From 5 to 10000.",
  'limits-changes-per-network':
      "Updates and patches of accounts, passkeys and grants from one client network in " +
      "a minute. From 10 to 1000000.",
  'limits-exports-per-network':
      "Exports of accounts from one client network in a minute. From 1 to 100000.",
  'limits-recoveries-per-account-day':
      "Recoveries that a person may start for their account in a day; each sends mail. " +
      "From 1 to 100.",
  'limits-invitation-accepts-per-network':
      "Attempts to become the first operator by the printed link, from one client " +
      "network in a minute. From 5 to 100000.",
  'limits-recovery-cancels-per-network':
      "Attempts to cancel a recovery by the link in a mail, from one client network in " +
      "a minute. From 5 to 100000.",
  'limits-wrong-secrets-per-network':
      "Wrong client secrets for one Client from one client network in wrongCodeWindow. " +
      "From 3 to 100000.",
  'limits-wrong-user-codes-per-session':
      "Wrong user codes (device authorization) from one browser in wrongCodeWindow. " +
      "From 2 to 1000.",
  'limits-wrong-user-codes-per-network':
      "Wrong user codes (device authorization) from one client network in " +
      "wrongCodeWindow. From 5 to 100000.",
  'limits-code-rest':
      "First pause of the codes of an address: mails have only the link, and codes are " +
      "refused. Doubles each time. From 1m to 24h.",
  'limits-code-rest-max':
      "Longest pause of the codes of an address. From 1m to 168h.",
  'limits-recovery-wait':
      "How long a recovery waits before the account loses its passkeys, and how long a " +
      "passkey that was added after an email sign-in waits before it counts in full. " +
      "From 1h to 720h.",
  'limits-authorization-code-lifetime':
      "Lifetime of an authorization code. From 10s to 10m.",
  'limits-access-token-lifetime':
      "Lifetime of an access token. From 1m to 24h.",
  'limits-id-token-lifetime':
      "Lifetime of an ID token. From 1m to 24h.",
  'limits-refresh-token-lifetime':
      "Lifetime of a refresh token. For a public Client, each use replaces it; for a " +
      "Client that authenticates, a use in its last third does. From 5m to 8760h.",
  'limits-refresh-token-total-lifetime':
      "Maximum total lifetime of the refresh tokens of one sign-in. From 5m to 26280h.",
  'limits-device-code-lifetime':
      "How long a device has for its sign-in (RFC 8628). From 1m to 30m.",
  'limits-passkeys-per-account':
      "Passkeys of an account. From 2 to 100.",
  'limits-sessions-per-account':
      "Sessions of an account; above it, the least recently used one ends. From 2 to " +
      "500.",
  'limits-watches-per-session':
      "Concurrent watches of one session or sign-in, on each replica. From 2 to 1000.",
  'limits-watches-of-network':
      "Concurrent watches of sign-ins from one client network, on each replica. From 10 " +
      "to 10000.",
  'limits-watches-of-strangers':
      "Concurrent watches of sign-ins from all client networks, on each replica. From " +
      "100 to 100000.",
  'limits-list-page-size':
      "Objects in one page of a list. From 50 to 5000.",
  'limits-request-body-size':
      "Bytes of a request body; for sign-ins and passkeys at most 64Ki. From 128Ki to " +
      "4Mi.",
  'limits-memory-share':
      "Used share of the heap or cgroup limit, whichever is higher, above which new " +
      "watches and large bodies are refused. From 20% to 95%.",
  'limits-memory-body-size':
      "Bytes above which a body is large, for memoryShare. From 16Ki to 4Mi.",
  'limits-owned-metadata-size':
      "Bytes of labels, annotations and owner references of one object that an account " +
      "owns. From 1Ki to 256Ki.",
  'limits-account-changes':
      "Changes by one account in a day; operators have no limit. From 50 to 1000000.",
  'limits-account-bytes':
      "Bytes of the changes by one account in a day. From 256Ki to 1Gi.",
  'limits-decisions-per-account':
      "Recorded decisions about one account; above it, the oldest are deleted. More " +
      "frequent decisions are only counted. From 100 to 20000.",
  'limits-recorded-changes':
      "Changes by one account that a replica records one by one in an hour; more are " +
      "only counted. From 10 to 10000.",
  'limits-recorded-refusals':
      "Refusals of one account that a replica records one by one in an hour; more are " +
      "only counted. From 5 to 10000.",
  'limits-recorded-refusals-in-all':
      "Refusals that a replica records one by one in a minute; more are only counted. " +
      "From 60 to 1000000.",
  'limits-reviews-per-account':
      "Recorded claims reviews about one account; above it, the oldest are deleted. " +
      "From 50 to 20000.",
  'limits-request-header-size':
      "Bytes of one request’s header. From 8Ki to 64Ki.",
  'limits-request-timeout':
      "How long a request may take to arrive. From 10s to 10m.",
  'limits-watch-timeout':
      "Minimum duration of a watch without a timeout; it ends at a random time within " +
      "twice that. From 1m to 24h.",
};
