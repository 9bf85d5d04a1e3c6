// Generated from the settings by hack/gen. Do not edit.

/** A setting of the service. */
export interface KnownSetting {
  /** What it is, in English. */
  readonly description: string;
  /** Its default, if every process has the same. */
  readonly value?: string;
}

/** The settings of the service by name. */
export const knownSettings: Readonly<Record<string, KnownSetting>> = {
  'base-url': {
    description:
      "The origin of every link, cookie and token, for example https://id.example.org. " +
      "Defaults to http://localhost:<port> when listening on loopback.",
  },
  'bind-address': {
    description:
      "Address to listen on.",
    value: '127.0.0.1',
  },
  'port': {
    description:
      "Port for plain http; 0 chooses a free one.",
    value: '8080',
  },
  'secure-port': {
    description:
      "Additional port for https; 0 chooses a free one. Not opened by default. kubectl " +
      "sends tokens over https only.",
  },
  'tls-cert-file': {
    description:
      "Certificate chain for the secure port in PEM. By default the service generates a " +
      "self-signed certificate in the data folder: tls.crt, tls.key. Reloaded when the " +
      "file changes.",
  },
  'tls-private-key-file': {
    description:
      "Private key of that certificate in PEM. Other users of the machine must not be " +
      "able to read it.",
  },
  'tls-min-version': {
    description:
      "Minimum TLS version: VersionTLS12 or VersionTLS13.",
    value: 'VersionTLS12',
  },
  'requestheader-client-ca-file': {
    description:
      "CA certificates (PEM) of the trusted front proxies, such as kube-apiserver. " +
      "Identity headers are accepted on the secure port only with a client certificate " +
      "of these CAs, and ignored when unset. Reloaded when the file changes.",
  },
  'requestheader-allowed-names': {
    description:
      "Allowed common names of those client certificates; if empty, any name.",
  },
  'requestheader-username-headers': {
    description:
      "Headers with the username; the first that is present is used.",
    value: 'x-remote-user',
  },
  'requestheader-group-headers': {
    description:
      "Headers with the groups, one group a header.",
    value: 'x-remote-group',
  },
  'requestheader-extra-headers-prefix': {
    description:
      "Prefixes of headers with extra attributes of the user.",
    value: 'x-remote-extra-',
  },
  'requestheader-uid-headers': {
    description:
      "Headers with the uid of the user, such as x-remote-uid. Set it only if the front " +
      "proxy sends them: kube-apiserver 1.32 and later.",
  },
  'authentication-skip-lookup': {
    description:
      "If false, the requestheader settings come from ConfigMap " +
      "kube-system/extension-apiserver-authentication and follow its changes. Works " +
      "only in a pod.",
    value: 'true',
  },
  'data-dir': {
    description:
      "Folder of the embedded store, and of the keys and the certificate that the first " +
      "start generates.",
  },
  'etcd-servers': {
    description:
      "URLs of the etcd servers to use instead of the embedded store.",
  },
  'etcd-prefix': {
    description:
      "Prefix of every key in etcd.",
    value: '/vestibule/',
  },
  'etcd-cafile': {
    description:
      "CA certificate of etcd in PEM.",
  },
  'etcd-certfile': {
    description:
      "Client certificate for etcd in PEM; requires etcd-keyfile. The service " +
      "reconnects when the CA, the certificate or the key changes.",
  },
  'etcd-keyfile': {
    description:
      "Private key of that client certificate in PEM.",
  },
  'etcd-compaction-interval': {
    description:
      "Minimum age of history before compaction; applies to both stores.",
    value: '5m',
  },
  'manifests': {
    description:
      "Folder of YAML files with Clients, ClaimsProviders, Audiences, Groups, the " +
      "Appearance and at most one Policy. They are applied at the start and whenever a " +
      "file changes; an object that no file declares any more is deleted.",
  },
  'smtp-url': {
    description:
      "URL of the mail server, smtp://user:password@host:port or smtps://…. A file is " +
      "reloaded when it changes.",
  },
  'mock-mail': {
    description:
      "Keep mails in the mock mailbox instead of sending them. Anyone who can reach the " +
      "service can read the mailbox, so requests must name the host of the base URL or " +
      "loopback.",
    value: 'false',
  },
  'allow-mock-mail': {
    description:
      "Allow mock mail with etcd or a public base URL.",
    value: 'false',
  },
  'email-from': {
    description:
      "Sender address of all mail.",
  },
  'keys-file': {
    description:
      "File of cookie, signing and sealing keys. Generated in the data folder for the " +
      "embedded store, required with etcd. Reloaded when the file changes.",
  },
  'operators': {
    description:
      "Email addresses of the operators, used until Group operators has members.",
  },
  'policy-time-zone': {
    description:
      "Time zone of timeOfDay and weekday in policies, by its name in the IANA " +
      "database, such as Europe/Berlin.",
    value: 'UTC',
  },
  'device-authorization': {
    description:
      "If false, the device flow (RFC 8628) is off: neither the command nor other " +
      "devices can sign in. Existing sign-ins stay valid until signed out.",
    value: 'true',
  },
  'name-fallback': {
    description:
      "What apps that get the address get as name and preferred_username of a person " +
      "without one: LocalPart (of the address), Email or Absent.",
    value: 'LocalPart',
  },
  'allow-private-network': {
    description:
      "Private networks (CIDR) that outbound requests may reach.",
  },
  'allow-private-http-redirects': {
    description:
      "Redirect URIs of Clients may be http in private networks: RFC 1918 and RFC 4193 " +
      "addresses, .local and .home.arpa.",
    value: 'false',
  },
  'trusted-proxies': {
    description:
      "Networks (CIDR) of the proxies whose X-Forwarded-For header is trusted.",
  },
  'max-requests-inflight': {
    description:
      "Maximum number of concurrent read-only requests.",
    value: '400',
  },
  'max-mutating-requests-inflight': {
    description:
      "Maximum number of concurrent mutating requests.",
    value: '200',
  },
  'shutdown-delay-duration': {
    description:
      "How long to keep serving after SIGTERM while readiness fails.",
    value: '0s',
  },
  'limit-factor': {
    description:
      "Multiplies every rate limit on requests and mails; for load tests.",
    value: '1',
  },
  'metrics-port': {
    description:
      "Port for /metrics and /configz, plain http on the bind address; 0 chooses a free " +
      "one. Not opened by default. Expose it to the monitoring network only.",
  },
  'audit-log-path': {
    description:
      "File for audit events, one JSON line each, or - for standard output. Off by " +
      "default. Only this log contains the network addresses of callers. SIGHUP reopens " +
      "the file.",
  },
  'logging-format': {
    description:
      "Log format: json or text.",
    value: 'json',
  },
  'log-level': {
    description:
      "Log level: debug, info, warn, error or silent.",
    value: 'info',
  },
  'limits-interaction-lifetime': {
    description:
      "How long a sign-in may take. Its record and cookie stay twice as long. From 5m " +
      "to 24h.",
    value: '1h',
  },
  'limits-sign-in-idle': {
    description:
      "How long an unverified sign-in lasts without a request from its browser. From 2m " +
      "to 24h.",
    value: '10m',
  },
  'limits-unproven-share': {
    description:
      "Share of the store for unverified sign-ins: of the etcd quota, or of 2Gi. Above " +
      "it, the longest idle ones are deleted first. From 1% to 50%.",
    value: '20%',
  },
  'limits-email-code-lifetime': {
    description:
      "Lifetime of an emailed code or link. From 1m to 1h.",
    value: '10m',
  },
  'limits-email-code-digits': {
    description:
      "Digits of an emailed code. From 6 to 8.",
    value: '8',
  },
  'limits-email-code-tries': {
    description:
      "Attempts to enter the code of one mail. From 1 to 10.",
    value: '5',
  },
  'limits-email-resend-wait': {
    description:
      "How long to wait for another mail in the same sign-in. From 10s to 10m.",
    value: '60s',
  },
  'limits-mail-window': {
    description:
      "Window in which mails are counted. From 1m to 24h.",
    value: '15m',
  },
  'limits-mails-per-known-address': {
    description:
      "Mails to one address in mailWindow, for browsers that signed in with it before. " +
      "From 1 to 1000.",
    value: '5',
  },
  'limits-mails-per-address': {
    description:
      "Mails to one address in mailWindow, for all other browsers together. From 1 to " +
      "1000.",
    value: '5',
  },
  'limits-mails-per-address-day': {
    description:
      "Mails to one address in a day, for all other browsers together. From 1 to 10000.",
    value: '20',
  },
  'limits-known-browser-lifetime': {
    description:
      "How long a browser can prove that it signed in with an address. From 24h to " +
      "9600h.",
    value: '8760h',
  },
  'limits-mails-per-interaction': {
    description:
      "Mails from one sign-in in mailWindow. From 1 to 1000.",
    value: '5',
  },
  'limits-mails-per-network': {
    description:
      "Mails for one client network in mailWindow. From 1 to 100000.",
    value: '20',
  },
  'limits-mails-in-all': {
    description:
      "Mails in mailWindow, for the whole service; mails for browsers that signed in " +
      "with the address before do not count. From 10 to 10000000.",
    value: '3000',
  },
  'limits-network-factor-middle': {
    description:
      "Factor by which a /56 of IPv6 may exceed the limit of a /64, for every limit by " +
      "network. From 1 to 256.",
    value: '2',
  },
  'limits-network-factor-wide': {
    description:
      "Factor by which a /48 of IPv6 may exceed the limit of a /64, and a /24 of IPv4 " +
      "that of one address. From 1 to 1000.",
    value: '4',
  },
  'limits-limit-records': {
    description:
      "New records of limits in a minute, for the whole service. From 100 to 1000000.",
    value: '6000',
  },
  'limits-wrong-code-window': {
    description:
      "Window in which wrong codes are counted. From 1m to 24h.",
    value: '15m',
  },
  'limits-wrong-codes-per-network': {
    description:
      "Wrong codes from one client network in wrongCodeWindow. From 5 to 100000.",
    value: '15',
  },
  'limits-wrong-codes-in-all': {
    description:
      "Wrong codes in wrongCodeWindow, for the whole service; beyond that, mails have " +
      "only the link. From 10 to 1000000.",
    value: '300',
  },
  'limits-wrong-code-decay': {
    description:
      "Time after which wrongCodesPerAddress wrong codes of an address, and one of its " +
      "pauses, are forgotten. From 1h to 720h.",
    value: '24h',
  },
  'limits-wrong-codes-per-address': {
    description:
      "Wrong codes in a row for one address, after which its codes are paused; links " +
      "and passkeys keep working. From 10 to 1000.",
    value: '100',
  },
  'limits-invitation-lifetime': {
    description:
      "How long an Invitation can be accepted if its creator does not say. From 1h to " +
      "8760h.",
    value: '168h',
  },
  'limits-invitations-per-address-day': {
    description:
      "Invitations mailed to one address in a day. From 1 to 1000.",
    value: '5',
  },
  'limits-invitations-per-account-day': {
    description:
      "Invitations that one account sends in a day. From 1 to 1000000.",
    value: '200',
  },
  'limits-access-requests-per-account-day': {
    description:
      "AccessRequests that one account makes in a day. From 1 to 1000000.",
    value: '20',
  },
  'limits-session-idle-lifetime': {
    description:
      "How long a session lasts without use. From 5m to 2160h.",
    value: '336h',
  },
  'limits-session-lifetime': {
    description:
      "Maximum lifetime of a session. From 5m to 8760h.",
    value: '2160h',
  },
  'limits-recent-sign-in': {
    description:
      "Maximum age of a sign-in that allows changes of sign-in methods. From 1m to 1h.",
    value: '10m',
  },
  'limits-authorization-request-size': {
    description:
      "Bytes of an authorization, pushed, device or sign-out request. From 2Ki to 15Ki.",
    value: '8Ki',
  },
  'limits-authorization-parameter-size': {
    description:
      "Bytes of a request parameter without a limit of its own. From 256 to 4Ki.",
    value: '1Ki',
  },
  'limits-sign-in-window': {
    description:
      "Window in which bytes of sign-ins are counted. From 1m to 24h.",
    value: '10m',
  },
  'limits-sign-in-bytes-per-network': {
    description:
      "Bytes stored for requests of one client network in signInWindow. From 64Ki to " +
      "1Gi.",
    value: '2Mi',
  },
  'limits-sign-in-bytes-in-all': {
    description:
      "Bytes stored for requests of all client networks in signInWindow. From 1Mi to " +
      "64Gi.",
    value: '128Mi',
  },
  'limits-state-size': {
    description:
      "Bytes of the parameter state. From 128 to 8Ki.",
    value: '4Ki',
  },
  'limits-nonce-size': {
    description:
      "Bytes of the parameter nonce. From 64 to 4Ki.",
    value: '512',
  },
  'limits-redirect-uri-size': {
    description:
      "Bytes of the parameter redirect_uri. From 256 to 4Ki.",
    value: '2Ki',
  },
  'limits-signed-parameter-size': {
    description:
      "Bytes of the parameters id_token_hint, client_assertion and request. From 1Ki to " +
      "15Ki.",
    value: '4Ki',
  },
  'limits-requests-per-network': {
    description:
      "Authorization requests from one client network in a minute; the same number each " +
      "for pushed requests, device authorization requests, user codes and sign-outs. " +
      "From 10 to 1000000.",
    value: '120',
  },
  'limits-client-documents-per-network': {
    description:
      "Metadata documents fetched for one client network in a minute. From 1 to 100000.",
    value: '10',
  },
  'limits-client-documents-in-all': {
    description:
      "Metadata documents fetched in a minute, for the whole service. From 10 to " +
      "1000000.",
    value: '60',
  },
  'limits-client-documents-per-host': {
    description:
      "Metadata documents fetched from one host in a minute, for the whole service. " +
      "From 1 to 1000000.",
    value: '20',
  },
  'limits-client-document-retry': {
    description:
      "How long a metadata document that could not be used is not fetched again. From " +
      "1s to 1h.",
    value: '1m',
  },
  'limits-proofs-per-network': {
    description:
      "Attempts to sign in (by code, link or passkey) from one client network in a " +
      "minute; the same number of codes for new addresses. From 10 to 1000000.",
    value: '60',
  },
  'limits-passkeys-per-network': {
    description:
      "Passkeys that one client network may register in a minute; the same number of " +
      "WebAuthn challenges. From 10 to 1000000.",
    value: '60',
  },
  'limits-challenges-per-session': {
    description:
      "WebAuthn challenges for one sign-in or session in two hours. From 5 to 10000.",
    value: '60',
  },
  'limits-changes-per-network': {
    description:
      "Updates and patches of accounts, passkeys and grants from one client network in " +
      "a minute. From 10 to 1000000.",
    value: '120',
  },
  'limits-exports-per-network': {
    description:
      "Exports of accounts from one client network in a minute. From 1 to 100000.",
    value: '10',
  },
  'limits-recoveries-per-account-day': {
    description:
      "Recoveries that a person may start for their account in a day; each sends mail. " +
      "From 1 to 100.",
    value: '5',
  },
  'limits-invitation-accepts-per-network': {
    description:
      "Attempts to become the first operator by the printed link, from one client " +
      "network in a minute. From 5 to 100000.",
    value: '30',
  },
  'limits-recovery-cancels-per-network': {
    description:
      "Attempts to cancel a recovery by the link in a mail, from one client network in " +
      "a minute. From 5 to 100000.",
    value: '30',
  },
  'limits-wrong-secrets-per-network': {
    description:
      "Wrong client secrets for one Client from one client network in wrongCodeWindow. " +
      "From 3 to 100000.",
    value: '20',
  },
  'limits-wrong-user-codes-per-session': {
    description:
      "Wrong user codes (device authorization) from one browser in wrongCodeWindow. " +
      "From 2 to 1000.",
    value: '5',
  },
  'limits-wrong-user-codes-per-network': {
    description:
      "Wrong user codes (device authorization) from one client network in " +
      "wrongCodeWindow. From 5 to 100000.",
    value: '20',
  },
  'limits-code-rest': {
    description:
      "First pause of the codes of an address: mails have only the link, and codes are " +
      "refused. Doubles each time. From 1m to 24h.",
    value: '15m',
  },
  'limits-code-rest-max': {
    description:
      "Longest pause of the codes of an address. From 1m to 168h.",
    value: '24h',
  },
  'limits-recovery-wait': {
    description:
      "How long a recovery waits before the account loses its passkeys, and how long a " +
      "passkey that was added after an email sign-in waits before it counts in full. " +
      "From 1h to 720h.",
    value: '48h',
  },
  'limits-policy-replay': {
    description:
      "How long the dry run of a Policy evaluates earlier decisions; it counts those " +
      "that it did not reach. From 1s to 5m.",
    value: '20s',
  },
  'limits-authorization-code-lifetime': {
    description:
      "Lifetime of an authorization code. From 10s to 10m.",
    value: '60s',
  },
  'limits-access-token-lifetime': {
    description:
      "Lifetime of an access token. From 1m to 24h.",
    value: '1h',
  },
  'limits-id-token-lifetime': {
    description:
      "Lifetime of an ID token. From 1m to 24h.",
    value: '1h',
  },
  'limits-refresh-token-lifetime': {
    description:
      "Lifetime of a refresh token. For a public Client, each use replaces it; for a " +
      "Client that authenticates, a use in its last third does. From 5m to 8760h.",
    value: '336h',
  },
  'limits-refresh-token-total-lifetime': {
    description:
      "Maximum total lifetime of the refresh tokens of one sign-in. From 5m to 26280h.",
    value: '8760h',
  },
  'limits-device-code-lifetime': {
    description:
      "How long a device has for its sign-in (RFC 8628). From 1m to 30m.",
    value: '10m',
  },
  'limits-passkeys-per-account': {
    description:
      "Passkeys of an account. From 2 to 100.",
    value: '20',
  },
  'limits-sessions-per-account': {
    description:
      "Sessions of an account; above it, the least recently used one ends. From 2 to " +
      "500.",
    value: '50',
  },
  'limits-watches-per-session': {
    description:
      "Concurrent watches of one session or sign-in, on each replica. From 2 to 1000.",
    value: '20',
  },
  'limits-watches-per-account': {
    description:
      "Concurrent watches of one account, in all its sessions, on each replica. From 2 " +
      "to 10000.",
    value: '100',
  },
  'limits-watches-of-persons': {
    description:
      "Concurrent watches of all accounts, on each replica. From 100 to 100000.",
    value: '5000',
  },
  'limits-watches-of-network': {
    description:
      "Concurrent watches of sign-ins from one client network, on each replica. From 10 " +
      "to 10000.",
    value: '200',
  },
  'limits-watches-of-strangers': {
    description:
      "Concurrent watches of sign-ins from all client networks, on each replica. From " +
      "100 to 100000.",
    value: '4000',
  },
  'limits-list-page-size': {
    description:
      "Objects in one page of a list. From 50 to 5000.",
    value: '500',
  },
  'limits-request-body-size': {
    description:
      "Bytes of a request body; for sign-ins and passkeys at most 64Ki. From 128Ki to " +
      "4Mi.",
    value: '256Ki',
  },
  'limits-memory-share': {
    description:
      "Used share of the heap or cgroup limit, whichever is higher, above which new " +
      "watches and large bodies are refused. From 20% to 95%.",
    value: '80%',
  },
  'limits-memory-body-size': {
    description:
      "Bytes above which a body is large, for memoryShare. From 16Ki to 4Mi.",
    value: '64Ki',
  },
  'limits-owned-metadata-size': {
    description:
      "Bytes of labels, annotations and owner references of one object that an account " +
      "owns. From 1Ki to 256Ki.",
    value: '4Ki',
  },
  'limits-account-changes': {
    description:
      "Changes by one account in a day; operators have no limit. From 50 to 1000000.",
    value: '1000',
  },
  'limits-account-bytes': {
    description:
      "Bytes of the changes by one account in a day. From 256Ki to 1Gi.",
    value: '4Mi',
  },
  'limits-decision-retention': {
    description:
      "How long a refusal or a change stays recorded after it was last made. From 24h " +
      "to 26280h.",
    value: '2160h',
  },
  'limits-read-decision-retention': {
    description:
      "How long a permitted sign-in or read stays recorded after it was last made. From " +
      "24h to 26280h.",
    value: '720h',
  },
  'limits-decisions-per-account': {
    description:
      "Recorded decisions about one account; above it, the oldest are deleted. More " +
      "frequent decisions are only counted. From 100 to 20000.",
    value: '2000',
  },
  'limits-recorded-changes': {
    description:
      "Changes by one account that a replica records one by one in an hour; more are " +
      "only counted. From 10 to 10000.",
    value: '120',
  },
  'limits-recorded-refusals': {
    description:
      "Refusals of one account that a replica records one by one in an hour; more are " +
      "only counted. From 5 to 10000.",
    value: '60',
  },
  'limits-recorded-refusals-in-all': {
    description:
      "Refusals that a replica records one by one in a minute; more are only counted. " +
      "From 60 to 1000000.",
    value: '1200',
  },
  'limits-reviews-per-account': {
    description:
      "Recorded claims reviews about one account; above it, the oldest are deleted. " +
      "From 50 to 20000.",
    value: '500',
  },
  'limits-request-header-size': {
    description:
      "Bytes of one request’s header. From 8Ki to 64Ki.",
    value: '16Ki',
  },
  'limits-request-timeout': {
    description:
      "How long a request may take to arrive. From 10s to 10m.",
    value: '60s',
  },
  'limits-watch-timeout': {
    description:
      "Minimum duration of a watch without a timeout; it ends at a random time within " +
      "twice that. From 1m to 24h.",
    value: '30m',
  },
};
