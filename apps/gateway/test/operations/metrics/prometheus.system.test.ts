import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lacks } from '@crossgear/tools/lacks'
import { freePort } from '@crossgear/tools/free-port'
import { Client } from 'faktory-worker'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { gatewayOfTest, wordsOn } from '../../support/gateway-process.ts'
import { redisOfTest } from '../../support/redis-of-suite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const deploy = fileURLToPath(new URL('../../../../../deploy/', import.meta.url))
const rules = join(deploy, 'prometheus/crossgear.rules.yml')
const lacksPrometheus = lacks('prometheus', '--version') || lacks('promtool', '--version')
const lacksGearman = lacks('gearman', '-H')

interface Dashboard {
  readonly uid: string
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string }[]
  }
  readonly panels: readonly {
    readonly title: string
    readonly type: string
    readonly datasource?: { readonly uid: string }
    readonly targets?: readonly { readonly expr: string }[]
  }[]
}
const dashboard = JSON.parse(
  readFileSync(join(deploy, 'grafana/crossgear.json'), 'utf8'),
) as Dashboard

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** A Prometheus that scrapes the pages of a gateway, and how to ask it. */
async function startPrometheus(webPort: number) {
  const folder = await temporaryFolder()
  const pages = ['/metrics', '/metrics/node', '/metrics/gearman', '/metrics/faktory']
  const jobs = pages.map((page) => ({
    job_name: page,
    metrics_path: page,
    scrape_interval: '1s',
    static_configs: [{ targets: [`127.0.0.1:${webPort}`] }],
  }))
  const config = join(folder, 'prometheus.json')
  // YAML takes JSON.
  writeFileSync(
    config,
    JSON.stringify({
      global: { evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: jobs,
    }),
  )
  const port = await freePort()
  const words = [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`]
  const child = spawn('prometheus', [...words, `--web.listen-address=127.0.0.1:${port}`], {
    stdio: 'ignore',
  })
  onTestFinished(() => endProcess(child))
  const get = async <Data>(path: string): Promise<Data> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    const { status, data, error } = (await answer.json()) as {
      status: string
      data: Data
      error?: string
    }
    expect([path, status, error]).toEqual([path, 'success', undefined])
    return data
  }
  /** The value of an expression that has one. */
  const query = async (expr: string): Promise<number | undefined> => {
    const { result } = await get<{ result: { value: [number, string] }[] }>(
      `query?query=${encodeURIComponent(expr)}`,
    )
    return result[0] && Number(result[0].value[1])
  }
  return { get, query }
}

describe.skipIf(lacksPrometheus)('the rules for Prometheus', () => {
  test('are sound, and each alert fires when it has to and not when it must not', () => {
    const check = spawnSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' })
    expect([check.status, check.stderr]).toEqual([0, ''])
    const cases = join(deploy, 'prometheus/crossgear.rules.test.yml')
    const test = spawnSync('promtool', ['test', 'rules', cases], { encoding: 'utf8' })
    expect([test.status, test.stdout]).toEqual([0, expect.stringContaining('SUCCESS')])
  })

  test('have a case for each alert, with a time when it fires and one when it does not', () => {
    const alerts = [...readFileSync(rules, 'utf8').matchAll(/alert: (\w+)/g)].map(
      ([, name]) => name,
    )
    const cases = readFileSync(join(deploy, 'prometheus/crossgear.rules.test.yml'), 'utf8')
    expect(alerts.length).toBeGreaterThan(7)
    for (const alert of alerts) {
      const tried = cases.split(`alertname: ${String(alert)}\n`).slice(1)
      const fires = tried.filter((after) => after.trimStart().startsWith('exp_alerts'))
      expect([alert, fires.length > 0, tried.length > fires.length]).toEqual([alert, true, true])
    }
  })
})

describe('the dashboard for Grafana', () => {
  test('has a name that lasts, and asks the data source that is chosen', () => {
    expect(dashboard.uid).toBe('crossgear-overview')
    expect(dashboard.templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource' })
    const asking = dashboard.panels.filter(({ type }) => type !== 'row')
    for (const { title, datasource, targets } of asking) {
      expect([title, datasource?.uid]).toEqual([title, '${datasource}'])
      expect(targets?.length).toBeGreaterThan(0)
    }
  })
})

describe.skipIf(lacksPrometheus || lacksGearman || lacksRedis)('a real Prometheus', () => {
  test('answers every query of the dashboard with a gateway under load', async () => {
    const words = wordsOn(await redisOfTest(), 'gearman', 'faktory', 'web')
    const { port } = await gatewayOfTest(words).ready
    const prometheus = await startPrometheus(port('web'))
    const scraped = () => prometheus.query('sum(up)')
    await vi.waitFor(async () => expect(await scraped()).toBe(4), soon)

    // Pushed by Faktory's client, worked on by gearmand's own: 60 of 100 jobs.
    const client = new Client({ host: '127.0.0.1', port: port('faktory') })
    onTestFinished(() => client.close())
    for (let job = 0; job < 100; job += 1) await client.job('mail', job).push()
    const late = client.job('late')
    late.custom = { expires_in: 0 }
    await late.push()
    const at = ['-h', '127.0.0.1', '-p', String(port('gearman'))]
    const doing = ['-w', '-c', '60', '-f', 'late', '-f', 'mail', '--', 'cat']
    const worker = spawn('gearman', [...at, ...doing], { stdio: 'ignore' })
    onTestFinished(() => endProcess(worker))
    await once(worker, 'exit')

    const expected = {
      'crossgear_jobs_submitted_total{job="/metrics",function="mail",door="faktory"}': 100,
      'crossgear_jobs_completed_total{job="/metrics/node",function="mail",door="faktory"}': 60,
      'crossgear_jobs_expired_total{job="/metrics",function="late",door="faktory"}': 1,
      'crossgear_job_run_seconds_count{job="/metrics",door_in="faktory",door_out="gearman"}': 60,
      'crossgear_jobs{function="mail",queue="default",state="waiting"}': 40,
      'crossgear:jobs:max{function="mail",state="waiting"}': 40,
      'crossgear_oldest_waiting_seconds{function="mail"} > bool 0': 1,
      'gearman_jobs_waiting{function="mail"}': 40,
      'faktory_jobs_total{status="processed"}': 60,
    }
    for (const [expr, value] of Object.entries(expected)) {
      await vi.waitFor(async () => {
        expect([expr, await prometheus.query(expr)]).toEqual([expr, value])
      }, soon)
    }
    const asked = dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => [title, expr] as const),
    )
    const quiet = new Set(['Errors of the store a second', 'Turned away a second'])
    for (const [title, expr] of asked) {
      const plain = expr.replaceAll('$function', '.*').replaceAll('$__rate_interval', '1m')
      await vi.waitFor(async () => {
        const value = await prometheus.query(plain)
        expect([title, expr, value !== undefined || quiet.has(title)]).toEqual([title, expr, true])
      }, soon)
    }
  })
})
