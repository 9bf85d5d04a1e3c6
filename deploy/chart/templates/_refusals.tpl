{{/* Everything that is missing or contradicts itself, a sentence each; all at once, as the service does it. */}}
{{- define "vestibule.refusals" -}}
{{- $said := list -}}
{{- range list "base" "store" "mail" "ways" "tls" "aggregation" "proxy" "metrics" "tracing" "network" "life" "hatches" "twice" -}}
{{- range splitList "\n" (include (printf "vestibule.refusals.%s" .) $) -}}
{{- with trim . -}}{{- $said = append $said . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if $said -}}{{- fail (printf "\n\n%s\n" (join "\n" $said)) -}}{{- end -}}
{{- end -}}

{{- define "vestibule.refusals.base" -}}
{{- $v := .Values -}}
{{- if not $v.baseURL }}
baseURL is empty: give the origin that people reach it by, such as https://id.example.org
{{- else if not (regexMatch "(?i)^https?://([^\\s/\\\\?#@:%\\[\\]]+|\\[[0-9a-f:.]+\\])(:[1-9][0-9]{0,4})?/?$" $v.baseURL) }}
baseURL must be scheme, host and perhaps a port, such as https://id.example.org{{ if not (contains "@" $v.baseURL) }}; got {{ toJson $v.baseURL | trimAll "\"" }}{{ end }}
{{- else if and (hasPrefix "http:" (include "vestibule.baseURL" $)) (not (include "vestibule.isLoopback" (include "vestibule.baseURL" $))) }}
baseURL must be https, or http on loopback; got {{ $v.baseURL }}
{{- end }}
{{- if not $v.image.repository }}
image.repository is empty: give the name of the image with the registry that you pushed it to
{{- end }}
{{- end -}}

{{- define "vestibule.refusals.store" -}}
{{- $v := .Values -}}
{{- $replicas := include "vestibule.replicas" . | int -}}
{{- if not $v.store.type }}
store.type is empty: give embedded (one replica with a volume) or etcd (any number of them)
{{- end }}
{{- if eq $v.store.type "etcd" }}
{{- if not $v.store.etcd.servers }}
store.etcd.servers is empty: give the client addresses of etcd, such as https://etcd-0.etcd:2379
{{- end }}
{{- range $v.store.etcd.servers }}
{{- if and (hasPrefix "http:" .) (not (include "vestibule.isLoopback" .)) }}
store.etcd.servers: {{ . }} must be https, or http on loopback
{{- end }}
{{- end }}
{{- if not $v.keys.existingSecret }}
keys.existingSecret is empty: with etcd every replica needs the same keys; make them with "vestibule keys new keys.json" and put them into a Secret
{{- end }}
{{- if and $v.store.etcd.existingSecret (ne (empty $v.store.etcd.certKey) (empty $v.store.etcd.keyKey)) }}
store.etcd.certKey and store.etcd.keyKey belong together: give both or neither
{{- end }}
{{- if $v.store.embedded.existingClaim }}
store.embedded.existingClaim is given with store.type etcd: one store at a time
{{- end }}
{{- end }}
{{- if eq $v.store.type "embedded" }}
{{- if or $v.store.etcd.servers $v.store.etcd.existingSecret $v.store.etcd.user.existingSecret }}
store.etcd is given with store.type embedded: one store at a time
{{- end }}
{{- if gt $replicas 1 }}
replicas is {{ $replicas }} with store.type embedded: one process holds the folder of that store; for several use etcd
{{- end }}
{{- if $v.autoscaling.enabled }}
autoscaling.enabled with store.type embedded: one process holds the folder of that store; for several use etcd
{{- end }}
{{- end }}
{{- if and $v.autoscaling.enabled (not (kindIs "invalid" $v.replicas)) }}
replicas and autoscaling.enabled are both given: either you say how many there are, or the autoscaler does
{{- end }}
{{- if gt (int $v.autoscaling.minReplicas) (int $v.autoscaling.maxReplicas) }}
autoscaling.minReplicas is more than autoscaling.maxReplicas
{{- end }}
{{- if and $v.autoscaling.enabled (not (dig "requests" "cpu" "" (default dict $v.resources))) }}
autoscaling.enabled without resources.requests.cpu: there would be nothing that targetCPU is a part of
{{- end }}
{{- end -}}

{{- define "vestibule.refusals.mail" -}}
{{- $v := .Values -}}
{{- if and $v.mail.mock $v.mail.smtp.existingSecret }}
mail.mock and mail.smtp.existingSecret are both given: mail is either kept or sent
{{- else if $v.mail.mock }}
{{- if and (not $v.mail.allowMock) (or (eq $v.store.type "etcd") (and $v.baseURL (not (include "vestibule.isLoopback" (include "vestibule.baseURL" $))))) }}
mail.mock is refused with etcd or a public base URL: anyone could read every code; give mail.allowMock if that is meant
{{- end }}
{{- else if not $v.mail.smtp.existingSecret }}
mail.smtp.existingSecret is empty: give a Secret with the address of a mail server, or mail.mock to keep mails in the mock mailbox
{{- end }}
{{- end -}}

{{- define "vestibule.refusals.ways" -}}
{{- $v := .Values -}}
{{- range list "gateway" "ingress" }}
{{- if and (index $v . "enabled") (not $v.config.trustedProxies) }}
{{ . }}.enabled without config.trustedProxies: without the networks it calls from, everybody would share its address, and its limits
{{- end }}
{{- if index $v . "backendTLS" "enabled" }}
{{- if not (index $v . "enabled") }}
{{ . }}.backendTLS.enabled without {{ . }}.enabled: nothing would use it
{{- else if not (include "vestibule.isSecure" $) }}
{{ . }}.backendTLS.enabled without tls.enabled: the pods have no port with TLS
{{- end }}
{{- end }}
{{- end }}
{{- if and (has $v.service.type (list "NodePort" "LoadBalancer")) (ne $v.service.externalTrafficPolicy "Local") (not $v.config.trustedProxies) }}
service.type is {{ $v.service.type }} without service.externalTrafficPolicy: Local or config.trustedProxies: everybody would share the address of a node, and its limits
{{- end }}
{{- if and (eq $v.service.type "ClusterIP") $v.service.externalTrafficPolicy }}
service.externalTrafficPolicy is given with service.type ClusterIP: it is for NodePort and LoadBalancer
{{- end }}
{{- if and $v.gateway.enabled (not $v.gateway.parentRefs) }}
gateway.parentRefs is empty: give the Gateway that the HTTPRoute hangs on
{{- end }}
{{- end -}}

{{- define "vestibule.refusals.tls" -}}
{{- $v := .Values -}}
{{- $isSecure := include "vestibule.isSecure" . -}}
{{- if and $v.tls.existingSecret $v.tls.certManager.enabled }}
tls.existingSecret and tls.certManager.enabled are both given: one certificate at a time
{{- end }}
{{- if and $v.tls.certManager.enabled (not $v.tls.certManager.issuerRef.name) }}
tls.certManager.issuerRef.name is empty: give the Issuer that signs the certificate
{{- end }}
{{- if and (not $isSecure) (include "vestibule.tlsSecret" .) }}
a certificate is given without tls.enabled: nothing would use it
{{- end }}
{{- if and $isSecure (eq $v.store.type "etcd") (not (include "vestibule.tlsSecret" .)) }}
tls.existingSecret is empty: every replica needs a certificate of the same authority; give a Secret with one, or tls.certManager
{{- end }}
{{- if and (eq (default "http" $v.probes.port) "https") (not $isSecure) }}
probes.port is https without tls.enabled: the pods have no port with TLS
{{- end }}
{{- if and $isSecure (eq (int $v.service.port) (int $v.service.securePort)) }}
service.port and service.securePort are the same: give two
{{- end }}
{{- end -}}

{{- define "vestibule.refusals.aggregation" -}}
{{- $v := .Values -}}
{{- $sources := len (compact (list $v.aggregation.caBundle $v.aggregation.injectCAFrom (ternary "certManager" "" (default false $v.tls.certManager.enabled)))) -}}
{{- if $v.aggregation.enabled }}
{{- if lt (ternary (int $v.autoscaling.minReplicas) (include "vestibule.replicas" . | int) $v.autoscaling.enabled) 2 }}
aggregation.enabled with one replica: while it restarts, discovery and the deletion of namespaces wait in the whole cluster; give two or more, on etcd
{{- end }}
{{- if not $v.podDisruptionBudget.enabled }}
aggregation.enabled without podDisruptionBudget.enabled: a drained node could take every replica away, and with them a part of the cluster's API
{{- end }}
{{- if eq $sources 0 }}
aggregation.caBundle is empty: give the authority of the serving certificate, or aggregation.injectCAFrom, or tls.certManager
{{- else if gt $sources 1 }}
aggregation.caBundle, aggregation.injectCAFrom and tls.certManager each say which authority is believed: give one
{{- end }}
{{- if and (not $v.serviceAccount.create) (not $v.serviceAccount.name) }}
serviceAccount.name is empty: with aggregation the account is given a role, and "default" is everybody's
{{- end }}
{{- else if or $v.aggregation.caBundle $v.aggregation.injectCAFrom }}
an authority is given without aggregation.enabled: nothing would use it
{{- end }}
{{- end -}}

{{- define "vestibule.refusals.proxy" -}}
{{- $v := .Values -}}
{{- with $v.frontProxy }}
{{- if .existingConfigMap }}
{{- if $v.aggregation.enabled }}
aggregation.enabled and frontProxy.existingConfigMap are both given: either the cluster says which front proxies are believed, or you do
{{- else if not $v.tls.enabled }}
frontProxy.existingConfigMap without tls.enabled: a front proxy proves itself by a certificate, over TLS alone
{{- end }}
{{- else if or .allowedNames .usernameHeaders .groupHeaders .extraHeadersPrefix .uidHeaders }}
frontProxy.existingConfigMap is empty: without the authorities of its certificates no front proxy would be believed
{{- end }}
{{- end }}
{{- end -}}

{{- define "vestibule.refusals.metrics" -}}
{{- $v := .Values -}}
{{- range list "serviceMonitor" "prometheusRule" "dashboard" }}
{{- if and (index $v.metrics . "enabled") (not $v.metrics.enabled) }}
metrics.{{ . }}.enabled without metrics.enabled: there would be nothing to look at
{{- end }}
{{- end }}
{{- if has (int $v.metrics.port) (list 8080 8443) }}
metrics.port is {{ int $v.metrics.port }}, where people are served: give another
{{- end }}
{{- end -}}

{{- define "vestibule.refusals.tracing" -}}
{{- with .Values.tracing }}
{{- if and .endpoint (not (regexMatch "^https?://([^]/?#@:[]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?(/[^?#]*)?$" .endpoint)) }}
tracing.endpoint must be an address of http or https, such as http://collector.monitoring:4318; got {{ .endpoint }}
{{- else if and .headers.existingSecret (not .endpoint) }}
tracing.headers.existingSecret is given without tracing.endpoint: nothing would be sent
{{- end }}
{{- end }}
{{- end -}}

{{- define "vestibule.refusals.network" -}}
{{- $v := .Values -}}
{{- if $v.networkPolicy.enabled }}
{{- if not $v.networkPolicy.from.gateway }}
networkPolicy.from.gateway is empty: no one could reach the pods; give the peers that bring people here
{{- end }}
{{- if and $v.metrics.enabled (not $v.networkPolicy.from.monitoring) }}
networkPolicy.from.monitoring is empty: no one could read the metrics; give the peers that scrape them
{{- end }}
{{- if and (eq $v.store.type "etcd") (not $v.networkPolicy.to.etcd) }}
networkPolicy.to.etcd is empty: the store could not be reached; give the peers that are its members
{{- end }}
{{- if and $v.mail.smtp.existingSecret (not $v.networkPolicy.to.smtp) }}
networkPolicy.to.smtp is empty: no mail could be sent; give the peers that are the mail server
{{- end }}
{{- if and $v.tracing.endpoint (not $v.networkPolicy.to.collector) }}
networkPolicy.to.collector is empty: no trace could be sent; give the peers that are the collector
{{- end }}
{{- if and $v.aggregation.enabled (not $v.networkPolicy.to.apiServer) }}
networkPolicy.to.apiServer is empty: whom to believe could not be asked of the cluster; give the addresses of its API server
{{- end }}
{{- end }}
{{- end -}}

{{- define "vestibule.refusals.life" -}}
{{- $needed := add 25 (include "vestibule.seconds" (default "" .Values.config.shutdownDelayDuration)) -}}
{{- if lt (int .Values.terminationGracePeriodSeconds) (int $needed) }}
terminationGracePeriodSeconds is {{ int .Values.terminationGracePeriodSeconds }}, but a pod needs config.shutdownDelayDuration and 25 s more to end: give {{ $needed }} or more
{{- end }}
{{- end -}}

{{/* What a value speaks for, or the chart sets itself, is not said a second time. */}}
{{- define "vestibule.refusals.hatches" -}}
{{- $v := .Values -}}
{{- $spoken := list -}}
{{- range list "base-url" "port" "secure-port" "tls-cert-file" "tls-private-key-file" "authentication-skip-lookup" "data-dir" "etcd-servers" "etcd-prefix" "etcd-cafile" "etcd-certfile" "etcd-keyfile" "etcd-username" "etcd-password" "requestheader-client-ca-file" "requestheader-allowed-names" "requestheader-username-headers" "requestheader-group-headers" "requestheader-extra-headers-prefix" "requestheader-uid-headers" "manifests" "smtp-url" "mock-mail" "allow-mock-mail" "email-from" "keys-file" "metrics-port" }}{{- $spoken = append $spoken . -}}{{- end -}}
{{- range $name, $_ := $v.config }}{{- $spoken = append $spoken (regexReplaceAll "([A-Z])" $name "-${1}" | lower) -}}{{- end -}}
{{- range $v.extraArgs }}
{{- $flag := regexReplaceAll "^--|=.*$" . "" }}
{{- if has $flag $spoken }}
extraArgs: --{{ $flag }} is said by another value already
{{- end }}
{{- end }}
{{- $made := dict "NODE_OPTIONS" "resources.limits.memory and nodeOptions" "OTEL_EXPORTER_OTLP_ENDPOINT" "tracing.endpoint" "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" "tracing.endpoint" "OTEL_EXPORTER_OTLP_HEADERS" "tracing.headers" "OTEL_TRACES_SAMPLER_ARG" "tracing.sampling" "OTEL_SERVICE_NAME" "tracing.serviceName" -}}
{{- range $v.extraEnv }}
{{- if hasKey $made .name }}
extraEnv: {{ .name }} is made of {{ get $made .name }}: give it there
{{- else if hasPrefix "VESTIBULE_" .name }}
{{- $flag := regexReplaceAll "_FILE$" (trimPrefix "VESTIBULE_" .name) "" | replace "_" "-" | lower }}
{{- if has $flag $spoken }}
extraEnv: {{ .name }} is said by another value already
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Lists that a cluster keeps by name hold each name once, those of the chart's own among them. */}}
{{- define "vestibule.refusals.twice" -}}
{{- $v := .Values -}}
{{- $own := dict
  "extraVolumes" (list "keys" "mail" "etcd" "etcd-user" "tls" "front-proxy" "manifests" "data")
  "extraVolumeMounts" (list "/etc/vestibule/keys" "/etc/vestibule/mail" "/etc/vestibule/etcd" "/etc/vestibule/etcd-user" "/etc/vestibule/tls" "/etc/vestibule/front-proxy" "/etc/vestibule/manifests" "/var/lib/vestibule")
  "extraContainers" (list "vestibule") "initContainers" (list "vestibule") -}}
{{- range $value, $list := dict "extraEnv" $v.extraEnv "extraVolumes" $v.extraVolumes "extraVolumeMounts" $v.extraVolumeMounts "extraContainers" $v.extraContainers "initContainers" $v.initContainers }}
{{- $seen := list }}
{{- range $list }}
{{- $name := get . (ternary "mountPath" "name" (eq $value "extraVolumeMounts")) | trimSuffix "/" }}
{{- if has $name (get $own $value | default list) }}
{{ $value }}: {{ $name }} is the chart's own: give another
{{- else if has $name $seen }}
{{ $value }}: {{ $name }} is given twice
{{- end }}
{{- $seen = append $seen $name }}
{{- end }}
{{- end }}
{{- end -}}
