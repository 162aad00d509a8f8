{{/* Name of all objects: the release's, with the suffix "sidecheck" unless it contains it. */}}
{{- define "sidecheck.fullname" -}}
{{- $name := contains "sidecheck" .Release.Name | ternary .Release.Name (printf "%s-sidecheck" .Release.Name) -}}
{{- default $name .Values.fullnameOverride | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that select the pods. They never change, because a Deployment's selector cannot. */}}
{{- define "sidecheck.selectorLabels" -}}
app.kubernetes.io/name: sidecheck
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sidecheck.labels" -}}
{{ include "sidecheck.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "sidecheck.image" -}}
{{- with .Values.image -}}
{{- .repository -}}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* Secret with the certificate of the server; empty without TLS. */}}
{{- define "sidecheck.tlsSecretName" -}}
{{- if .Values.tls.secretName -}}
{{- .Values.tls.secretName -}}
{{- else if .Values.tls.certificate.create -}}
{{- include "sidecheck.fullname" . }}-tls
{{- end -}}
{{- end -}}

{{/* Secret with the tokens; empty if callers need none. */}}
{{- define "sidecheck.tokensSecretName" -}}
{{- if .Values.tokens.secretName -}}
{{- .Values.tokens.secretName -}}
{{- else if .Values.tokens.entries -}}
{{- include "sidecheck.fullname" . }}-tokens
{{- end -}}
{{- end -}}
