{{- define "fitout.labels" -}}
app.kubernetes.io/name: fitout
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: hub
{{- end }}

{{- define "fitout.chartsLabels" -}}
app.kubernetes.io/name: fitout
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: charts
{{- end }}

{{- define "fitout.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
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

{{- define "fitout.checkCharts" -}}
{{- with .Values.charts }}
{{- if and .configMap .image }}
{{- fail "charts.configMap and charts.image are both set: the charts come from one of them" }}
{{- end }}
{{- if and .registry (not (or .configMap .image)) }}
{{- fail "charts.registry is set without charts: name a ConfigMap in charts.configMap, or an image in charts.image" }}
{{- end }}
{{- if and (or .configMap .image .catalog) (not .registry) }}
{{- fail "charts.registry is missing: the address to push the charts to, such as oci://registry.example.com/charts" }}
{{- end }}
{{- end }}
{{- end }}
