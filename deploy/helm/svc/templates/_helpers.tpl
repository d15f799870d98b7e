{{- define "svc.name" -}}
{{- if eq .Release.Name .Chart.Name }}{{ .Chart.Name }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "svc.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "svc.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "svc.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* What every process has: a user without rights, a read-only root, and its variables. */}}
{{- define "svc.container" -}}
image: {{ include "svc.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [{{ .role }}]
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: tmp, mountPath: /tmp }
env:
  {{- range $name, $optional := dict "DATABASE_URL" false "SVC_ENCRYPTION_KEYS" false "SVC_DATABASE_DIRECT_URL" true "SVC_BOOTSTRAP_API_KEY" true }}
  - name: {{ $name }}
    valueFrom: { secretKeyRef: { name: {{ $.root.Values.secretName }}, key: {{ $name }}, optional: {{ $optional }} } }
  {{- end }}
  - { name: SVC_DRAIN_MS, value: {{ .root.Values.drainMs | int64 | quote }} }
  - { name: SVC_SHUTDOWN_MS, value: {{ .root.Values.shutdownMs | int64 | quote }} }
  - { name: SVC_DATA_DIR, value: /tmp/svc }
  {{- with .root.Values.publicUrl }}
  - { name: SVC_PUBLIC_URL, value: {{ . | quote }} }
  {{- end }}
  {{- with .root.Values.trustedProxies }}
  - { name: SVC_TRUSTED_PROXIES, value: {{ join "," . | quote }} }
  {{- end }}
  {{- range $name, $value := .root.Values.env }}
  - { name: {{ $name }}, value: {{ $value | toString | quote }} }
  {{- end }}
{{- end }}

{{- define "svc.pod" -}}
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - { name: tmp, emptyDir: {} }
{{- end }}
