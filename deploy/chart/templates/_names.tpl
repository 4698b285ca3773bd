{{- define "fitout.labels" -}}
app.kubernetes.io/name: fitout
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: hub
{{- end }}

{{- define "fitout.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- /* The hub's permissions are limited to this namespace. */ -}}
{{- define "fitout.namespace" -}}
{{- if ne .Release.Namespace "fitout-system" }}
{{- fail (printf "the hub lives in namespace fitout-system, not %s: install it with --namespace fitout-system" .Release.Namespace) }}
{{- end }}
{{- .Release.Namespace }}
{{- end }}
