{{/* What "vestibule serve" is given, as a list. */}}
{{- define "vestibule.args" -}}
{{- $v := .Values -}}
{{- $args := list (printf "--base-url=%s" (include "vestibule.baseURL" $)) "--port=8080" -}}
{{- if include "vestibule.isEtcd" . -}}
  {{- $args = append $args (printf "--etcd-servers=%s" (join "," $v.store.etcd.servers)) -}}
  {{- $args = append $args (printf "--etcd-prefix=%s" $v.store.etcd.prefix) -}}
  {{- if $v.store.etcd.existingSecret -}}
    {{- range $flag, $key := dict "cafile" $v.store.etcd.caKey "certfile" $v.store.etcd.certKey "keyfile" $v.store.etcd.keyKey -}}
      {{- if $key -}}{{- $args = append $args (printf "--etcd-%s=/etc/vestibule/etcd/%s" $flag $key) -}}{{- end -}}
    {{- end -}}
  {{- end -}}
{{- else -}}
  {{- $args = append $args "--data-dir=/var/lib/vestibule/data" -}}
{{- end -}}
{{- with $v.keys.existingSecret -}}{{- $args = append $args (printf "--keys-file=/etc/vestibule/keys/%s" $v.keys.key) -}}{{- end -}}
{{- with $v.mail.from -}}{{- $args = append $args (printf "--email-from=%s" .) -}}{{- end -}}
{{- if $v.mail.mock -}}{{- $args = append $args "--mock-mail=true" -}}{{- end -}}
{{- if $v.mail.allowMock -}}{{- $args = append $args "--allow-mock-mail=true" -}}{{- end -}}
{{- if $v.manifests -}}{{- $args = append $args "--manifests=/etc/vestibule/manifests" -}}{{- end -}}
{{- if include "vestibule.isSecure" . -}}
  {{- $args = append $args "--secure-port=8443" -}}
  {{- if include "vestibule.tlsSecret" . -}}
    {{- $args = concat $args (list (printf "--tls-cert-file=/etc/vestibule/tls/%s" $v.tls.certKey) (printf "--tls-private-key-file=/etc/vestibule/tls/%s" $v.tls.keyKey)) -}}
  {{- end -}}
{{- end -}}
{{- if $v.aggregation.enabled -}}{{- $args = append $args "--authentication-skip-lookup=false" -}}{{- end -}}
{{- with $v.frontProxy -}}
  {{- if .existingConfigMap -}}
    {{- $args = append $args (printf "--requestheader-client-ca-file=/etc/vestibule/front-proxy/%s" .caKey) -}}
    {{- range $flag, $names := dict "requestheader-allowed-names" .allowedNames "requestheader-username-headers" .usernameHeaders "requestheader-group-headers" .groupHeaders "requestheader-extra-headers-prefix" .extraHeadersPrefix "requestheader-uid-headers" .uidHeaders -}}
      {{- if $names -}}{{- $args = append $args (printf "--%s=%s" $flag (join "," $names)) -}}{{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if $v.metrics.enabled -}}{{- $args = append $args (printf "--metrics-port=%d" (int $v.metrics.port)) -}}{{- end -}}
{{- $settings := omit $v.config "limits" -}}
{{- range $name, $value := $v.config.limits -}}{{- $_ := set $settings (printf "limits-%s" $name) $value -}}{{- end -}}
{{- range $name, $value := $settings -}}
  {{- $flag := regexReplaceAll "([A-Z])" $name "-${1}" | lower -}}
  {{- $text := "" -}}
  {{- if kindIs "slice" $value -}}{{- $text = join "," $value -}}{{- else if kindIs "string" $value -}}{{- $text = $value -}}{{- else if not (kindIs "invalid" $value) -}}{{- $text = toJson $value -}}{{- end -}}
  {{- if ne $text "" -}}{{- $args = append $args (printf "--%s=%s" $flag $text) -}}{{- end -}}
{{- end -}}
{{- /* Kubernetes puts variables in place of $(NAME); here nothing is meant so. */ -}}
{{- $plain := list "serve" -}}
{{- range concat $args (default list $v.extraArgs) -}}{{- $plain = append $plain (replace "$(" "$$(" .) -}}{{- end -}}
{{- toYaml $plain -}}
{{- end -}}

{{/* 45 % of the memory limit, in MiB; nothing where there is no limit. */}}
{{- define "vestibule.heap" -}}
{{- $limit := "" -}}
{{- with (default dict .Values.resources).limits -}}{{- $limit = default "" .memory -}}{{- end -}}
{{- $bytes := 0.0 -}}
{{- if kindIs "string" $limit -}}
  {{- $factors := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
  {{- $factor := get $factors (regexFind "[A-Za-z]*$" $limit) -}}
  {{- if and $limit $factor -}}{{- $bytes = mulf (float64 (regexFind "^[0-9.]+" $limit)) $factor -}}{{- end -}}
{{- else -}}
  {{- $bytes = float64 $limit -}}
{{- end -}}
{{- if gt $bytes 0.0 -}}{{- printf "%.0f" (floor (divf (mulf $bytes 0.45) 1048576.0)) -}}{{- end -}}
{{- end -}}

{{/* Environment of the chart's own, as a list. */}}
{{- define "vestibule.env" -}}
{{- $env := list -}}
{{- /* Within a memory limit V8 takes a young generation of 1 MiB, without one 64 MiB (docs/design/performance.md#young-generation). */ -}}
{{- $options := list "--max-semi-space-size=16" -}}
{{- with include "vestibule.heap" . -}}{{- $options = append $options (printf "--max-old-space-size=%s" .) -}}{{- end -}}
{{- with .Values.nodeOptions -}}{{- $options = append $options . -}}{{- end -}}
{{- $env = append $env (dict "name" "NODE_OPTIONS" "value" (join " " $options)) -}}
{{- /* Memory that malloc can return (docs/design/performance.md#sign-ins-within-a-memory-limit). */ -}}
{{- $env = append $env (dict "name" "MALLOC_ARENA_MAX" "value" "1") -}}
{{- $env = append $env (dict "name" "MALLOC_MMAP_THRESHOLD_" "value" "131072") -}}
{{- with .Values.store.etcd.user -}}
  {{- if and (include "vestibule.isEtcd" $) .existingSecret -}}
    {{- $env = append $env (dict "name" "VESTIBULE_ETCD_USERNAME" "valueFrom" (dict "secretKeyRef" (dict "name" .existingSecret "key" .nameKey))) -}}
    {{- $env = append $env (dict "name" "VESTIBULE_ETCD_PASSWORD_FILE" "value" (printf "/etc/vestibule/etcd-user/%s" .passwordKey)) -}}
  {{- end -}}
{{- end -}}
{{- if .Values.mail.smtp.existingSecret -}}{{- $env = append $env (dict "name" "VESTIBULE_SMTP_URL_FILE" "value" (printf "/etc/vestibule/mail/%s" .Values.mail.smtp.key)) -}}{{- end -}}
{{- with .Values.tracing -}}
  {{- if .endpoint -}}
    {{- $env = append $env (dict "name" "OTEL_EXPORTER_OTLP_ENDPOINT" "value" .endpoint) -}}
    {{- with .headers.existingSecret -}}{{- $env = append $env (dict "name" "OTEL_EXPORTER_OTLP_HEADERS" "valueFrom" (dict "secretKeyRef" (dict "name" . "key" $.Values.tracing.headers.key))) -}}{{- end -}}
    {{- $env = append $env (dict "name" "OTEL_SERVICE_NAME" "value" (default (include "vestibule.fullname" $) .serviceName)) -}}
    {{- $env = append $env (dict "name" "OTEL_TRACES_SAMPLER_ARG" "value" (toJson .sampling)) -}}
  {{- end -}}
{{- end -}}
{{- toYaml $env -}}
{{- end -}}

{{/* Secrets that files are made of: what they are for, and their keys. */}}
{{- define "vestibule.secrets" -}}
{{- $v := .Values -}}
{{- $found := dict -}}
{{- with $v.keys.existingSecret -}}{{- $_ := set $found "keys" (dict "secret" . "keys" (list $v.keys.key)) -}}{{- end -}}
{{- with $v.mail.smtp.existingSecret -}}{{- $_ := set $found "mail" (dict "secret" . "keys" (list $v.mail.smtp.key)) -}}{{- end -}}
{{- if and (include "vestibule.isEtcd" .) $v.store.etcd.existingSecret -}}{{- $_ := set $found "etcd" (dict "secret" $v.store.etcd.existingSecret "keys" (compact (list $v.store.etcd.caKey $v.store.etcd.certKey $v.store.etcd.keyKey))) -}}{{- end -}}
{{- if and (include "vestibule.isEtcd" .) $v.store.etcd.user.existingSecret -}}{{- $_ := set $found "etcd-user" (dict "secret" $v.store.etcd.user.existingSecret "keys" (list $v.store.etcd.user.passwordKey)) -}}{{- end -}}
{{- if and (include "vestibule.isSecure" .) (include "vestibule.tlsSecret" .) -}}{{- $_ := set $found "tls" (dict "secret" (include "vestibule.tlsSecret" .) "keys" (list $v.tls.certKey $v.tls.keyKey)) -}}{{- end -}}
{{- toYaml $found -}}
{{- end -}}

{{- define "vestibule.volumes" -}}
{{- range $name, $from := include "vestibule.secrets" . | fromYaml }}
- name: {{ $name }}
  secret:
    secretName: {{ $from.secret }}
    defaultMode: 288 # 0440
    items:
      {{- range $from.keys }}
      - { key: {{ . | quote }}, path: {{ . | quote }} }
      {{- end }}
{{- end }}
{{- with .Values.frontProxy }}
{{- if .existingConfigMap }}
- name: front-proxy
  configMap:
    name: {{ .existingConfigMap }}
    defaultMode: 292 # 0444
    items:
      - { key: {{ .caKey | quote }}, path: {{ .caKey | quote }} }
{{- end }}
{{- end }}
{{- if .Values.manifests }}
- name: manifests
  configMap:
    name: {{ include "vestibule.fullname" . }}-manifests
    defaultMode: 292 # 0444
{{- end }}
{{- if and (not (include "vestibule.isEtcd" .)) .Values.store.embedded.existingClaim }}
- name: data
  persistentVolumeClaim:
    claimName: {{ .Values.store.embedded.existingClaim }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "vestibule.mounts" -}}
{{- range $name, $from := include "vestibule.secrets" . | fromYaml }}
- { name: {{ $name }}, mountPath: /etc/vestibule/{{ $name }}, readOnly: true }
{{- end }}
{{- if .Values.frontProxy.existingConfigMap }}
- { name: front-proxy, mountPath: /etc/vestibule/front-proxy, readOnly: true }
{{- end }}
{{- if .Values.manifests }}
- { name: manifests, mountPath: /etc/vestibule/manifests, readOnly: true }
{{- end }}
{{- if not (include "vestibule.isEtcd" .) }}
- { name: data, mountPath: /var/lib/vestibule }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Over zones and nodes, each version apart where the workload has versions side by side. */}}
{{- define "vestibule.spread" -}}
{{- $selector := include "vestibule.selector" . | fromYaml -}}
{{- $found := list -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" -}}
{{- $found = append $found (dict "maxSkew" 1 "topologyKey" . "whenUnsatisfiable" "ScheduleAnyway" "labelSelector" (dict "matchLabels" $selector) "matchLabelKeys" (list "pod-template-hash")) -}}
{{- end -}}
{{- toYaml $found -}}
{{- end -}}

{{- define "vestibule.podLabels" -}}
{{- toYaml (mergeOverwrite (deepCopy (default dict .Values.commonLabels)) (default dict .Values.podLabels) (include "vestibule.selector" . | fromYaml)) -}}
{{- end -}}

{{/* Secrets are taken over by the process as they change; what the chart itself holds is read at a start, so it rolls the pods. */}}
{{- define "vestibule.podAnnotations" -}}
{{- $own := dict -}}
{{- if .Values.manifests -}}{{- $own = dict "checksum/config" (toJson .Values.manifests | sha256sum) -}}{{- end -}}
{{- $all := mergeOverwrite (deepCopy (default dict .Values.podAnnotations)) $own -}}
{{- if $all -}}{{- toYaml $all -}}{{- end -}}
{{- end -}}

{{- define "vestibule.pod" -}}
metadata:
  labels:
    {{- include "vestibule.podLabels" . | nindent 4 }}
  {{- with include "vestibule.podAnnotations" . }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "vestibule.serviceAccount" . }}
  automountServiceAccountToken: {{ .Values.aggregation.enabled }}
  enableServiceLinks: false
  {{- if not .Values.hostUsers }}
  hostUsers: false
  {{- end }}
  terminationGracePeriodSeconds: {{ int .Values.terminationGracePeriodSeconds }}
  securityContext:
    {{- toYaml .Values.podSecurityContext | nindent 4 }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- with .Values.schedulerName }}
  schedulerName: {{ . }}
  {{- end }}
  {{- with .Values.dnsPolicy }}
  dnsPolicy: {{ . }}
  {{- end }}
  {{- range $name := list "dnsConfig" "hostAliases" }}
  {{- with index $.Values $name }}
  {{ $name }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- with .Values.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: vestibule
      image: {{ include "vestibule.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        {{- include "vestibule.args" . | nindent 8 }}
      {{- with concat (include "vestibule.env" . | fromYamlArray) (default list .Values.extraEnv) }}
      env:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - { name: http, containerPort: 8080, protocol: TCP }
        {{- if include "vestibule.isSecure" . }}
        - { name: https, containerPort: 8443, protocol: TCP }
        {{- end }}
        {{- if .Values.metrics.enabled }}
        - { name: metrics, containerPort: {{ int .Values.metrics.port }}, protocol: TCP }
        {{- end }}
      {{- range $kind, $path := dict "startup" "/livez" "liveness" "/livez" "readiness" "/readyz" }}
      {{ $kind }}Probe:
        httpGet: { path: {{ $path }}, port: {{ default "http" $.Values.probes.port }}, scheme: {{ upper (default "http" $.Values.probes.port) }} }
        {{- with index $.Values.probes $kind }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
      {{- with .Values.lifecycle }}
      lifecycle:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      resources:
        {{- toYaml (default dict .Values.resources) | nindent 8 }}
      securityContext:
        {{- toYaml .Values.securityContext | nindent 8 }}
      {{- with include "vestibule.mounts" . | trim }}
      volumeMounts:
        {{- . | nindent 8 }}
      {{- end }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with include "vestibule.volumes" . | trim }}
  volumes:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
  {{- else if include "vestibule.isEtcd" . }}
  topologySpreadConstraints:
    {{- include "vestibule.spread" . | nindent 4 }}
  {{- end }}
{{- end -}}
