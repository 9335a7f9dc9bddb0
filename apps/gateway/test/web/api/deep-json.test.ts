import { expect, onTestFinished, test } from 'vitest'
import { indented } from '../../../dashboard/payload-text.js'
import { Metrics } from '../../../src/operations/metrics/metrics.ts'
import { readJson } from '../../../src/operations/page.ts'
import { createWebServer } from '../../../src/web/web-server.ts'
import { figuresOf } from '../../support/metrics-page.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { operatorOf } from '../../commands/terminal/support/terminal.ts'
import { apiOnRedis, bearer, operatorPassword, sent } from './support/api-gateway.ts'

const { describeApi, openApi, redis } = apiOnRedis()

function nested(depth: number, inner = ''): string {
  return '['.repeat(depth) + inner + ']'.repeat(depth)
}

const depths = [513, 6_000, 200_000]
const whole = 'max_payload_bytes=1048576'

describeApi('JSON that nests deeper than 512', () => {
  test('is shown as text, by the API and in a terminal', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const { run } = operatorOf(api)
    for (const depth of depths) {
      const text = nested(depth)
      const handle = await client.submit('SUBMIT_JOB_BG', 'f', '', text)
      const { payload } = await api.job(handle, whole)
      expect(payload).toEqual({ size_bytes: text.length, form: 'text', value: text, is_cut: false })
      const shown = await run(`jobs show ${handle} --max-payload-bytes 1048576`)
      expect([shown.code, shown.stderr]).toEqual([0, ''])
      expect(shown.stdout).toContain(`payload (${text.length} bytes, text)\n  ${text}\n`)
    }
    const handle = await client.submit('SUBMIT_JOB_BG', 'f', '', nested(512))
    expect((await api.job(handle)).payload.form).toBe('json')
  })

  test('is shown as text where another program wrote it into a job', async () => {
    const api = await openApi()
    const deep = nested(6_000)
    const failure = `{"message":"m","backtrace":[${deep}]}`
    const fields = { status: 'error', input: deep, envelope: deep, failure, output: deep }
    await redis().ask('HSET', 'job:g:7', ...Object.entries(fields).flat())
    const client = await api.gateway.peer()
    const handle = await client.submit('SUBMIT_JOB_BG', 'g', '', 'x')
    expect(await api.job(handle.replace(/\d$/, '7'))).toMatchObject({
      envelope: deep,
      payload: { value: deep },
      output: { value: deep },
      error: { message: failure.slice(0, 1_000) },
    })
  })

  test('is refused in the body of a call, however deep', async () => {
    const api = await openApi()
    for (const depth of depths) {
      const body = `{"function":"f","payload":{"json":${nested(depth)}}}`
      const headers = bearer(operatorPassword)
      expect(await api.refusal('/jobs', { method: 'POST', headers, body })).toEqual([
        400,
        'invalid_json',
      ])
    }
    const body = { function: 'f', payload: { json: JSON.parse(nested(500)) as unknown } }
    expect(await api.act('/jobs', body)).toMatchObject({ result: 'created' })
  })

  test('a terminal shows JSON that nests deeper than 32 on one line', async () => {
    const api = await openApi()
    const client = await api.gateway.peer()
    const text = nested(500, '1,'.repeat(20_000).slice(0, -1))
    const handle = await client.submit('SUBMIT_JOB_BG', 'f', '', text)
    const { stdout } = await operatorOf(api).run(`jobs show ${handle}`)
    expect(stdout).toContain(`payload (${text.length} bytes, json)\n  ${text}\n`)
  })
})

test('a page of the web port refuses it in a body', async () => {
  const web = createWebServer({
    figures: figuresOf(new Metrics()),
    check: () => Promise.resolve({ ready: true }),
    log: recordingLog().log,
    pages: {
      '/cron': async (request) => ({
        status: 200,
        type: 'application/json',
        body: JSON.stringify(await readJson(request).catch(String)),
      }),
    },
  })
  onTestFinished(() => web.close())
  const { port } = await web.listen({ host: '127.0.0.1', port: 0 })
  const ask = (depth: number) => sent(port, '/cron', { method: 'POST', body: nested(depth) })
  expect((await ask(20_000)).body).toMatch(/nests deeper than 512$/)
  expect((await ask(512)).body).toEqual(JSON.parse(nested(512)))
})

test('the dashboard shows it as text, and indents no line of what nests less by more than 64 columns', () => {
  for (const depth of depths) expect(indented(nested(depth))).toBeUndefined()
  const text = nested(512, '1,'.repeat(32_000).slice(0, -1))
  const lines = indented(text)?.split('\n') ?? []
  expect(lines).toHaveLength(32_000 + 2 * 512)
  expect(Math.max(...lines.map((line) => line.length))).toBe(64 + '1,'.length)
})
