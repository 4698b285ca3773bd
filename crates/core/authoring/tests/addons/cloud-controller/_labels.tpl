{{- define "labels" -}}
app: cloud-controller
cluster: {{ .Cluster.Name }}
{{- range $name, $value := .Labels }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}
