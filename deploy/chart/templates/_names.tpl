{{- define "vestibule.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for what a StatefulSet and its pods add to it. */}}
{{- define "vestibule.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "vestibule.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "vestibule.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "vestibule.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* What pods are found by, for ever. */}}
{{- define "vestibule.selector" -}}
app.kubernetes.io/name: {{ include "vestibule.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "vestibule.labels" -}}
{{- $own := include "vestibule.selector" . | fromYaml -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") -}}
{{- $_ := set $own "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service -}}
{{- toYaml (mergeOverwrite (deepCopy (default dict .Values.commonLabels)) $own) -}}
{{- end -}}

{{/*
Metadata of an object: a dict with the root and, where they differ from the release's own, name and namespace ("" for none);
component, labels and annotations of its own. Labels of the chart win.
*/}}
{{- define "vestibule.metadata" -}}
{{- $own := include "vestibule.labels" .root | fromYaml -}}
{{- with .component -}}{{- $_ := set $own "app.kubernetes.io/component" . -}}{{- end -}}
name: {{ default (include "vestibule.fullname" .root) .name }}
{{- with (hasKey . "namespace" | ternary .namespace (include "vestibule.namespace" .root)) }}
namespace: {{ . }}
{{- end }}
labels:
  {{- toYaml (mergeOverwrite (deepCopy (default dict .labels)) $own) | nindent 2 }}
{{- with mergeOverwrite (deepCopy (default dict .root.Values.commonAnnotations)) (default dict .annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "vestibule.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "vestibule.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "vestibule.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The base URL as the service writes it. */}}
{{- define "vestibule.baseURL" -}}
{{- regexReplaceAll "^(http://.+):80$|^(https://.+):443$" (.Values.baseURL | lower | trimSuffix "/") "${1}${2}" -}}
{{- end -}}

{{/* The name in the base URL. */}}
{{- define "vestibule.host" -}}
{{- regexReplaceAll "^https?://|:[0-9]+$" (include "vestibule.baseURL" .) "" -}}
{{- end -}}

{{/* Names the Service has in the cluster; kube-apiserver asks for the longest. */}}
{{- define "vestibule.serviceNames" -}}
{{- $name := include "vestibule.fullname" . -}}
{{- $namespace := include "vestibule.namespace" . -}}
- {{ $name }}
- {{ $name }}.{{ $namespace }}
- {{ $name }}.{{ $namespace }}.svc
{{- end -}}

{{/* "true" or nothing, as all below that are asked by "if". */}}
{{- define "vestibule.isEtcd" -}}{{- if eq .Values.store.type "etcd" -}}true{{- end -}}{{- end -}}

{{- define "vestibule.isSecure" -}}{{- if or .Values.tls.enabled .Values.aggregation.enabled -}}true{{- end -}}{{- end -}}

{{/* A duration of the settings (ms, s, m, h) in whole seconds, rounded up. */}}
{{- define "vestibule.seconds" -}}
{{- $factor := get (dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0) (regexFind "[a-z]*$" . | default "s") -}}
{{- printf "%.0f" (ceil (mulf (float64 (regexFind "^[0-9.]+" . | default "0")) $factor)) -}}
{{- end -}}

{{/* Whether an address is this very machine. */}}
{{- define "vestibule.isLoopback" -}}{{- if regexMatch "^https?://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:[0-9]+)?$" . -}}true{{- end -}}{{- end -}}

{{/* The port of an address, which its scheme says where it does not. */}}
{{- define "vestibule.portOf" -}}
{{- $given := regexReplaceAll "^https?://|/.*$" . "" | regexFind ":[0-9]+$" | trimPrefix ":" -}}
{{- default (ternary "443" "80" (hasPrefix "https:" .)) $given -}}
{{- end -}}

{{- define "vestibule.replicas" -}}
{{- if kindIs "invalid" .Values.replicas -}}{{- ternary 2 1 (eq .Values.store.type "etcd") -}}{{- else -}}{{- int .Values.replicas -}}{{- end -}}
{{- end -}}

{{/* The Secret with the serving certificate; none where the embedded store's process makes its own. */}}
{{- define "vestibule.tlsSecret" -}}
{{- if .Values.tls.certManager.enabled -}}{{- printf "%s-tls" (include "vestibule.fullname" .) -}}{{- else -}}{{- .Values.tls.existingSecret -}}{{- end -}}
{{- end -}}

{{/* Refuses sections of the values that are null, before a template reads below them; each template begins with it. */}}
{{- define "vestibule.sections" -}}
{{- range splitList " " "image store store.embedded store.etcd store.etcd.user keys mail mail.smtp config service tls tls.certManager aggregation frontProxy gateway gateway.backendTLS ingress ingress.backendTLS networkPolicy networkPolicy.from networkPolicy.to metrics metrics.serviceMonitor metrics.prometheusRule metrics.dashboard tracing tracing.headers autoscaling podDisruptionBudget serviceAccount probes" -}}
{{- $value := $.Values -}}
{{- range splitList "." . -}}{{- $value = get $value . -}}{{- end -}}
{{- if not (kindIs "map" $value) -}}{{- fail (printf "%s is null, which takes its defaults away: leave it out" .) -}}{{- end -}}
{{- end -}}
{{- end -}}
