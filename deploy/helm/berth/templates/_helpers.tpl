{{- define "berth.name" -}}
{{- if contains "berth" .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-berth" (.Release.Name | trunc 44 | trimSuffix "-") }}
{{- end -}}
{{- end -}}

{{- define "berth.serverLabels" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "berth.labels" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "berth.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "berth.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "berth.name" .) }}
{{- end -}}

{{- define "berth.instances" -}}
{{ .Values.instances.namespace | default .Release.Namespace }}
{{- end -}}

{{- define "berth.priorityClass" -}}
{{ printf "%s-%s-instance" .Release.Namespace (include "berth.name" .) }}
{{- end -}}

{{- /* The names that other Pods of the cluster call the servers by. */ -}}
{{- define "berth.hosts" -}}
{{- $name := include "berth.name" . -}}
{{- $namespace := .Release.Namespace -}}
{{ $name }},{{ $name }}.{{ $namespace }},{{ $name }}.{{ $namespace }}.svc,{{ $name }}.{{ $namespace }}.svc.cluster.local
{{- if .Values.ingress.enabled }},{{ .Values.ingress.host }}{{ end -}}
{{- with index .Values.settings "BERTH_ALLOWED_HOSTS" }},{{ . }}{{ end -}}
{{- end -}}

{{- /* Seconds until a server that is to stop has stopped. */ -}}
{{- define "berth.stopSeconds" -}}
{{- $drain := index .Values.settings "BERTH_DRAIN_SECONDS" | default 1 | int -}}
{{- $grace := index .Values.settings "BERTH_SHUTDOWN_GRACE_SECONDS" | default 20 | int -}}
{{ add .Values.drainSeconds $drain $grace 10 }}
{{- end -}}

{{- /* Wrong values that a schema cannot see. */ -}}
{{- define "berth.check" -}}
{{- if not .Values.secret -}}
{{- fail "Cannot render: set `secret` to the name of a Secret with DATABASE_URL, BERTH_MASTER_KEY and BERTH_API_KEY" -}}
{{- end -}}
{{- $blobs := 0 -}}
{{- if .Values.blobs.url }}{{ $blobs = add $blobs 1 }}{{ end -}}
{{- if .Values.blobs.existingClaim }}{{ $blobs = add $blobs 1 }}{{ end -}}
{{- if .Values.blobs.ephemeral }}{{ $blobs = add $blobs 1 }}{{ end -}}
{{- if ne (int $blobs) 1 -}}
{{- fail "Cannot render: set exactly one of `blobs.url`, `blobs.existingClaim` and `blobs.ephemeral`, because profiles and recordings have to be where every server finds them" -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled .Values.keda.enabled -}}
{{- fail "Cannot render: `autoscaling.enabled` and `keda.enabled` exclude each other, because both change the number of servers" -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.serviceMonitor.keySecret.name) -}}
{{- fail "Cannot render: set `serviceMonitor.keySecret.name` to a Secret with an organisation-wide API key, because /metrics needs one" -}}
{{- end -}}
{{- end -}}
