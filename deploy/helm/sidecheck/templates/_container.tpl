{{/* Security context of both containers: they run as the image's user and write nothing. */}}
{{- define "sidecheck.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Variables of the registry. The URI has a password, so it is in a Secret. */}}
{{- define "sidecheck.databaseEnv" -}}
- name: SIDECHECK_REGISTRY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.secretName }}
      key: {{ .Values.database.key }}
{{- if .Values.database.caSecretName }}
- name: PGSSLMODE
  value: verify-full
- name: PGSSLROOTCERT
  value: /etc/sidecheck/database/ca.crt
{{- end }}
{{- end -}}

{{- define "sidecheck.databaseMount" -}}
- name: database
  mountPath: /etc/sidecheck/database
  readOnly: true
{{- end -}}

{{/* Variables of the settings; that of a setting in a table has the prefix of the table. */}}
{{- define "sidecheck.settingsEnv" -}}
{{- range $name, $value := .Values.settings }}
{{- if kindIs "map" $value }}
{{- range $inner, $innerValue := $value }}
{{ include "sidecheck.settingEnv" (list (printf "%s__%s" $name $inner) $innerValue) }}
{{- end }}
{{- else }}
{{ include "sidecheck.settingEnv" (list $name $value) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Variable of a setting. JSON keeps all digits of numbers; the service reads lists in JSON. */}}
{{- define "sidecheck.settingEnv" -}}
{{- $value := index . 1 -}}
- name: SIDECHECK_{{ index . 0 | upper }}
  value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
{{- end -}}
