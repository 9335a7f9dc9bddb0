{{- define "crossgear.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "crossgear.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trimSuffix "-" -}}
{{- else if contains (include "crossgear.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "crossgear.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "crossgear.selector" -}}
app.kubernetes.io/name: {{ include "crossgear.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "crossgear.labels" -}}
{{ include "crossgear.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "crossgear.secretName" -}}
{{- .Values.existingSecret | default (include "crossgear.fullname" .) -}}
{{- end -}}

{{- /* Names by which the web port is asked: those of the Service, and the user's. */ -}}
{{- define "crossgear.hosts" -}}
{{- $name := include "crossgear.fullname" . -}}
{{- $service := printf "%s.%s.svc" $name .Release.Namespace -}}
{{- $own := list $name (printf "%s.%s" $name .Release.Namespace) $service (printf "%s.cluster.local" $service) -}}
{{- concat $own .Values.allowedHosts | join "," -}}
{{- end -}}
