import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { freePort } from '../testing/free-port.ts'
import { buildGateway, gatewayWords } from '../testing/gateway-program.ts'
import { helm, lacksHelm } from '../testing/helm.ts'
import { lacks } from '../testing/lacks.ts'
import { lacksRedis, RedisServer } from '../testing/redis-server.ts'
import { bridgedByGearman, startProgram } from './support/started-program.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const chart = join(root, 'deploy/helm/crossgear')

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec?: unknown
  readonly data?: Readonly<Record<string, string>>
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

interface Pod {
  readonly enableServiceLinks: boolean
  readonly terminationGracePeriodSeconds: number
  readonly containers: readonly {
    readonly image: string
    readonly env: readonly {
      readonly name: string
      readonly value?: string
      readonly valueFrom?: { readonly secretKeyRef: { readonly key: string } }
    }[]
    readonly startupProbe: Probe
    readonly livenessProbe: Probe
    readonly readinessProbe: Probe
    readonly securityContext: object
    readonly lifecycle: {
      readonly preStop: { readonly exec: { readonly command: readonly string[] } }
    }
  }[]
}

const passwords = {
  secret: {
    redisUrl: 'redis://redis:6379/0',
    faktoryPassword: 'f',
    webPassword: 'w',
    webReaderPassword: 'r',
  },
}
const everything = {
  ...passwords,
  config: '[routes.mail]\nqueue = "bulk"\n',
  ports: { http: 8080 },
  podLabels: { team: 'jobs' },
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'jobs', operator: 'Exists' }],
  imagePullSecrets: [{ name: 'registry' }],
  priorityClassName: 'high',
  extraEnv: [{ name: 'CROSSGEAR_LOG_LEVEL', value: 'debug' }],
  networkPolicy: {
    enabled: true,
    monitoring: [{ namespaceSelector: { matchLabels: { a: 'b' } } }],
  },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true },
  dashboard: { enabled: true },
  scaledObjects: [{ function: 'mail', deployment: 'mail-workers', maxReplicas: 20 }],
}

/** The manifests that Helm makes of the chart with these values. */
function rendered(values: object, name = 'jobs'): readonly Manifest[] {
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-chart-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'values.json')
  writeFileSync(file, JSON.stringify(values))
  const text = helm('template', name, chart, '--namespace', 'work', '--values', file)
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest)
}

function podOf(manifests: readonly Manifest[]): Pod {
  const deployment = manifests.find(({ kind }) => kind === 'Deployment')
  return (deployment?.spec as { template: { spec: Pod } }).template.spec
}

/** Starts the gateway of a pod, with its variables and settings, on a store. */
async function startPod(pod: Pod, redisUrl: string, config = ''): Promise<void> {
  const values: Readonly<Record<string, string>> = {
    'redis-url': redisUrl,
    'web-password': 'w',
    'web-reader-password': 'r',
    'faktory-password': 'f',
  }
  const env = pod.containers[0]?.env.map(({ name, value, valueFrom }) => {
    return [name, value ?? values[valueFrom?.secretKeyRef.key ?? '']] as const
  })
  const folder = mkdtempSync(join(tmpdir(), 'crossgear-pod-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'crossgear.toml')
  writeFileSync(file, config)
  await startProgram(process.execPath, gatewayWords(), {
    env: {
      PATH: process.env['PATH'],
      CROSSGEAR_LOG_FORMAT: 'text',
      ...Object.fromEntries(env ?? []),
      CROSSGEAR_CONFIG: file,
    },
  })
}

/** The types of each kind that the chart makes. */
const types: Readonly<Record<string, string>> = {
  'v1 ': 'kubernetes-models/v1',
  'apps/v1 ': 'kubernetes-models/apps/v1',
  'policy/v1 ': 'kubernetes-models/policy/v1',
  'networking.k8s.io/v1 ': 'kubernetes-models/networking.k8s.io/v1',
  'monitoring.coreos.com/v1 ': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
  'keda.sh/v1alpha1 ': '@kubernetes-models/keda/keda.sh/v1alpha1',
}

/** The words of the compiler on manifests as values of Kubernetes' own types: an unknown field is an error. */
function complaints(manifests: readonly Manifest[]): string {
  const folder = mkdtempSync(join(root, 'node_modules/.cache/crossgear-kinds-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const lines = manifests.flatMap((manifest, index) => {
    const module = types[`${manifest.apiVersion} `] ?? `no types of ${manifest.apiVersion}`
    return [
      `import type { I${manifest.kind} as Kind${index} } from '${module}'`,
      `export const manifest${index}: Kind${index} = ${JSON.stringify(manifest)}`,
    ]
  })
  // The packages have their types for CommonJS.
  writeFileSync(join(folder, 'manifests.cts'), lines.join('\n'))
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: true, types: [] }
  const options = { ...compilerOptions, module: 'nodenext', target: 'es2023' }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }))
  const tsc = join(root, 'node_modules/@typescript/native-compiler/bin/tsc')
  return spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout
}

describe.skipIf(lacksHelm)('the Helm chart', () => {
  beforeAll(buildGateway)

  test('passes helm lint', () => {
    const place = ['--set', 'existingSecret=jobs']
    expect(helm('lint', '--strict', chart, ...place)).toContain('0 chart(s) failed')
  })

  test('has the version of the packages', () => {
    const text = readFileSync(join(root, 'apps/gateway/package.json'), 'utf8')
    const { version } = JSON.parse(text) as { version: string }
    const described = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as Manifest
    expect(described).toMatchObject({ version, appVersion: version })
  })

  test('renders objects valid for Kubernetes, Prometheus’ operator and KEDA', () => {
    const manifests = rendered(everything)
    expect(manifests.map(({ kind }) => kind).sort()).toEqual([
      'ConfigMap',
      'ConfigMap',
      'Deployment',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'PrometheusRule',
      'ScaledObject',
      'Secret',
      'Service',
      'ServiceAccount',
      'ServiceMonitor',
      'TriggerAuthentication',
    ])
    expect(complaints(manifests)).toBe('')
  })

  test('is checked by a schema that refuses unknown fields', () => {
    const [first] = rendered(passwords)
    const wrong = { ...first, spec: { replica: 2 } } as unknown as Manifest
    expect(complaints([wrong])).toContain('does not exist in type')
  })

  test.each([
    ['no store and no passwords', {}, 'secret.redisUrl'],
    ['a misspelt value', { ...passwords, replicas: 3 }, 'replicas is not allowed'],
    [
      'a store that is no Redis',
      { secret: { ...passwords.secret, redisUrl: 'pg://a' } },
      'redisUrl',
    ],
    ['a port that only root has', { ...passwords, ports: { gearman: 80 } }, 'ports.gearman'],
    [
      'autoscaling without a password to read with',
      {
        secret: { ...passwords.secret, webReaderPassword: '' },
        scaledObjects: everything.scaledObjects,
      },
      'webReaderPassword',
    ],
  ])('refuses %s', (_what, values, reason) => {
    expect(() => rendered(values)).toThrow(reason)
  })

  test('runs as an unprivileged user on a read-only root, and drains within its time', () => {
    const pod = podOf(rendered({ ...passwords, preStopSeconds: 7, drainSeconds: 60 }))
    const [container] = pod.containers
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(container?.lifecycle.preStop.exec.command).toEqual(['sleep', '7'])
    expect(container?.env).toContainEqual({ name: 'CROSSGEAR_DRAIN_SECONDS', value: '60' })
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(7 + 60)
  })

  test('takes the passwords of an existing Secret, and creates none', () => {
    const manifests = rendered({ existingSecret: 'vault' })
    expect(manifests.some(({ kind }) => kind === 'Secret')).toBe(false)
    expect(JSON.stringify(podOf(manifests))).toContain('"name":"vault","key":"redis-url"')
  })

  test.skipIf(lacksRedis)(
    'gives the gateway only variables, paths and names that it accepts',
    async () => {
      const redis = await RedisServer.start()
      onTestFinished(() => redis.stop())
      const [gearman, faktory, web, http] = await Promise.all([
        freePort(),
        freePort(),
        freePort(),
        freePort(),
      ])
      const manifests = rendered({ ...everything, ports: { gearman, faktory, web, http } })
      const pod = podOf(manifests)
      await startPod(pod, redis.url, everything.config)
      const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'] as const
      for (const probe of probes) {
        const { path, port } = pod.containers[0]![probe].httpGet
        expect([port, (await ask(web, path)).status]).toEqual(['web', 200])
      }
      const asked = JSON.stringify(manifests).matchAll(/"url":"([^"]+)","valueLocation":"(\w+)"/g)
      const figures = [...asked].map(([, url = '', figure = '']) => ({ url: new URL(url), figure }))
      expect(figures).toHaveLength(2)
      for (const { url, figure } of figures) {
        const answer = await ask(web, url.pathname + url.search, {
          host: `${url.hostname}:${web}`,
          authorization: 'Bearer r',
        })
        expect(JSON.parse(answer.body)).toHaveProperty(figure, 0)
      }
    },
  )

  test.skipIf(lacksRedis || lacks('gearman', '-H'))(
    'with four replicas makes gateways of one store: a worker at one does a job of another',
    async () => {
      const redis = await RedisServer.start()
      onTestFinished(() => redis.stop())
      const gearman: number[] = []
      // Pods have addresses of their own; here each has its own ports.
      for (let replica = 0; replica < 4; replica += 1) {
        const [port, faktory, web] = [await freePort(), await freePort(), await freePort()]
        const ports = { gearman: port, faktory, web }
        const manifests = rendered({ ...passwords, replicaCount: 4, ports })
        const deployment = manifests.find(({ kind }) => kind === 'Deployment')
        expect(deployment?.spec).toMatchObject({ replicas: 4 })
        await startPod(podOf(manifests), redis.url)
        gearman.push(port)
      }
      expect(await redis.ask('ZCARD', 'xg:nodes')).toBe('4')
      for (const [at, port] of gearman.entries()) {
        expect(await bridgedByGearman(port, 'hello', gearman[(at + 1) % 4])).toBe('HELLO')
      }
    },
  )

  // Kubernetes puts these beside a Service of that name, unless enableServiceLinks is false.
  test('keeps the variables of Services from the gateway, which would refuse one of them', () => {
    const [named] = rendered(passwords, 'crossgear-gearman')
    expect(podOf(rendered(passwords, 'crossgear-gearman')).enableServiceLinks).toBe(false)
    expect(named?.metadata.name).toBe('crossgear-gearman')
    const { status, stderr } = spawnSync(process.execPath, gatewayWords(), {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], CROSSGEAR_GEARMAN_PORT: 'tcp://10.0.0.7:4730' },
    })
    expect([status, stderr]).toEqual([2, expect.stringContaining('CROSSGEAR_GEARMAN_PORT')])
  })

  test('has the rules and the dashboard of deploy unchanged', () => {
    const manifests = rendered(everything)
    const rule = manifests.find(({ kind }) => kind === 'PrometheusRule')
    const rules = readFileSync(join(root, 'deploy/prometheus/crossgear.rules.yml'), 'utf8')
    expect(rule?.spec).toEqual(parse(rules))
    const dashboard = readFileSync(join(root, 'deploy/grafana/crossgear.json'), 'utf8')
    expect(manifests.some(({ data }) => data?.['crossgear.json'] === dashboard)).toBe(true)
  })
})

/** The answer of a port of this machine, whatever name it is asked by. */
async function ask(port: number, path: string, headers: OutgoingHttpHeaders = {}) {
  const question = get({ port, path, headers, host: '127.0.0.1' })
  const [answer] = (await once(question, 'response')) as [IncomingMessage]
  let body = ''
  for await (const chunk of answer) body += String(chunk)
  return { status: answer.statusCode, body }
}
