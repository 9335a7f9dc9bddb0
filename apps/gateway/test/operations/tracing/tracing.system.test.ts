import { trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { GearmanPeer } from '../../doors/gearman/support/gearman-peer.ts'
import { gatewayOfTest, wordsOn } from '../../support/gateway-process.ts'
import { MetricsPages } from '../../../src/operations/metrics/metrics-pages.ts'
import { readTraceparent, writeTraceparent } from '../../../src/operations/tracing/trace-context.ts'
import { pushTo, routesFile } from '../../doors/push/support/routes.ts'
import { startTarget } from '../../doors/push/support/target.ts'
import { openOnRedis } from '../../config/options/composed-gateway.ts'

const exporter = new InMemorySpanExporter()
const producers = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const { open, redis } = openOnRedis()

/** A span by its name. */
function span(name: string): ReadableSpan {
  const names = exporter.getFinishedSpans().map((one) => one.name)
  const found = exporter.getFinishedSpans().find((one) => one.name === name)
  expect(found, `${name} among ${names.join()}`).toBeDefined()
  return found as ReadableSpan
}

test('a valid traceparent is read unchanged, and an invalid one is ignored', () => {
  expect(writeTraceparent(readTraceparent(producers)!)).toBe(producers)
  const zeros = '00-00000000000000000000000000000000-b7ad6b7169203331-01'
  for (const text of [undefined, '', zeros, `${producers}-x`, producers.toUpperCase()]) {
    expect([text, readTraceparent(text)]).toEqual([text, undefined])
  }
})

describe.skipIf(lacksRedis)('the traces of a gateway', () => {
  beforeAll(async () => {
    const spanProcessors = [new SimpleSpanProcessor(exporter)]
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }))
  })
  beforeEach(async () => {
    exporter.reset()
    await redis().ask('FLUSHALL')
  })
  afterAll(async () => {
    trace.disable()
    await redis().stop()
  })

  test('link a Gearman job with its run by a Faktory worker, which gets the context', async () => {
    const gateway = await open({ tracing: 'yes' })
    await (await gateway.peer()).submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    const create = span('create mail')
    const worker = await gateway.consumer()
    const job = (await worker.askJson('FETCH default')) as unknown as {
      jid: string
      custom: { traceparent: string }
    }
    expect(readTraceparent(job.custom.traceparent)).toMatchObject({
      traceId: create.spanContext().traceId,
      spanId: create.spanContext().spanId,
    })
    await worker.ask(`ACK {"jid":"${job.jid}"}`)
    const [receive, run, settle] = ['receive', 'process', 'settle'].map((name) =>
      span(`${name} mail`),
    )
    for (const one of [receive, run, settle]) {
      expect(one?.links.map(({ context }) => context.spanId)).toEqual([create.spanContext().spanId])
      expect(one?.attributes).toMatchObject({
        'messaging.system': 'crossgear',
        'messaging.destination.name': 'mail',
        'messaging.message.id': '1',
        'messaging.operation.type': one?.name.split(' ')[0],
      })
    }
    expect(settle?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId)
  })

  test("continue a Faktory producer's trace, and pass its context to the worker unchanged", async () => {
    const gateway = await open({ tracing: 'yes' })
    const client = await gateway.consumer()
    const custom = `{"locale":"de","traceparent":"${producers}"}`
    await client.ask(`PUSH {"jid":"traced-job","jobtype":"mail","args":[],"custom":${custom}}`)
    const create = span('create mail')
    expect(create.spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c')
    expect(create.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
    const job = await client.askJson('FETCH default')
    expect(job['custom']).toEqual({ locale: 'de', traceparent: producers })
    await client.ask('FAIL {"jid":"traced-job","errtype":"E","message":"no"}')
    expect(span('process mail').attributes['error.type']).toBe('retried')
  })

  test('go on at a push target, which gets the context of the run', async () => {
    const target = await startTarget()
    const config = await routesFile({ resize: pushTo(target.url) })
    const gateway = await open({ tracing: 'yes', config })
    const client = await gateway.peer()
    await client.submit('SUBMIT_JOB', 'resize', '', 'x')
    const posted = await target.next()
    posted.answer(200)
    await client.receive()
    const { traceId, spanId } = span('process resize').spanContext()
    const { traceparent } = posted.headers
    expect(readTraceparent(String(traceparent))).toMatchObject({ traceId, spanId })
  })

  test('are the exemplars of the OpenMetrics histograms', async () => {
    const gateway = await open({ tracing: 'yes' })
    await (await gateway.peer()).submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    await (await gateway.peer('mail')).ask('GRAB_JOB')
    const pages = new MetricsPages(gateway.figures, () => 0)
    const page = (accept: string) => pages.answer('/metrics/node', accept)
    const { traceId } = span('create mail').spanContext()
    const shown = `# {trace_id="${traceId}"}`
    const { body } = await page('application/openmetrics-text;version=1.0.0')
    expect(body.split('\n').filter((line) => line.includes(shown))).toEqual([
      expect.stringMatching(/^crossgear_job_wait_seconds_bucket\{function="mail"/),
    ])
    expect(body.endsWith('# EOF\n')).toBe(true)
    expect((await page('text/plain')).body).not.toContain('trace_id')
  })

  test('cost nothing and keep nothing when tracing is off', async () => {
    const gateway = await open()
    await (await gateway.peer()).submit('SUBMIT_JOB_BG', 'mail', '', 'x')
    expect(await redis().ask('HGET', 'job:mail:1', 'trace')).toBe('null')
    await (await gateway.peer('mail')).ask('GRAB_JOB')
    expect(exporter.getFinishedSpans()).toEqual([])
  })

  test('come from a gateway whose SDK is loaded with NODE_OPTIONS; without one the log says so', async () => {
    const sdk = new URL('programs/print-spans.mjs', import.meta.url)
    const words = [...wordsOn(redis(), 'gearman', 'web'), '--tracing', 'yes']
    const submitTo = async (env: Record<string, string>) => {
      const gateway = gatewayOfTest(words, env)
      const { port } = await gateway.ready
      const connect = () => GearmanPeer.ofTest(port('gearman'))
      await (await connect()).submit('SUBMIT_JOB_BG', 'mail', '', 'x')
      return { gateway, connect, web: port('web') }
    }
    const stored = (id: number) => redis().ask('HGET', `job:mail:${id}`, 'trace')
    await (await submitTo({})).gateway.said(/no OpenTelemetry SDK is loaded/)
    expect(await stored(1)).toBe('null')
    const env = { NODE_OPTIONS: `--import ${sdk.href}` }
    // Spans that the SDK still holds leave as the gateway ends.
    const { gateway } = await submitTo(env)
    expect((await gateway.end('SIGINT')).stdout).toMatch(/^SPAN create mail$/m)
    const traced = await submitTo(env)
    const [, traceId = ''] = /00-([0-9a-f]{32})-[0-9a-f]{16}-01/.exec(await stored(3)) ?? []
    expect(traceId).not.toBe('')
    const worker = await traced.connect()
    worker.send('CAN_DO', 'mail')
    for (let job = 0; job < 3; job += 1) await worker.ask('GRAB_JOB')
    const headers = { Accept: 'application/openmetrics-text' }
    const page = await fetch(`http://127.0.0.1:${traced.web}/metrics/node`, { headers })
    expect(await page.text()).toContain(`# {trace_id="${traceId}"}`)
  })
})
