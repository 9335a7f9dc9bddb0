import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lacks } from '@crossgear/tools/lacks'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ApiGateway, apiOnRedis } from './support/api-gateway.ts'

const { openApi } = apiOnRedis()
const lacksGearman = lacks('gearman', '-H')

/** The stock worker of gearman-tools: it says each payload that it is given, on a line. */
function stockWorker(api: ApiGateway, fn: string) {
  const port = String(api.gateway.port('gearman'))
  const words = ['-h', '127.0.0.1', '-p', port, '-w', '-f', fn, '--']
  const child = spawn('gearman', [...words, 'sh', '-c', 'cat >&2; echo >&2'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const leave = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited
  }
  onTestFinished(leave)
  return { said: () => said.split('\n').filter((line) => line !== ''), leave }
}

describe.skipIf(lacksRedis || lacksGearman)('acts that a stock gearman worker sees', () => {
  test('a submitted job is run, a cancelled one is not, a retried one is run again', async () => {
    const api = await openApi()
    const submit = async (text: string): Promise<string> => {
      const made = await api.act('/jobs', { function: 'seen', payload: { text } })
      return (made as { job: string }).job
    }
    const unwanted = await submit('cancelled')
    const job = await submit('submitted')
    expect(await api.actOn('cancel', { jobs: [unwanted] })).toMatchObject({ done: 1 })
    const worker = stockWorker(api, 'seen')
    await expect.poll(worker.said).toEqual(['submitted'])
    const later = (await api.act('/jobs', {
      function: 'seen',
      payload: { text: 'later' },
      delay_seconds: 3_600,
    })) as { job: string }
    await api.act(`/jobs/${later.job}/resubmit`, { payload: { text: 'changed' } })
    await expect.poll(worker.said).toEqual(['submitted', 'changed'])
    expect(await api.actOn('retry', { filter: { function: 'seen' } })).toMatchObject({ done: 1 })
    await expect.poll(worker.said).toEqual(['submitted', 'changed', 'later'])
    expect(await api.refusal(`/jobs/${job}`)).toEqual([404, 'unknown_job'])
  })

  test('a paused function accepts jobs but hands out none, and continues in order when resumed', async () => {
    const api = await openApi()
    const submit = (text: string) => api.act('/jobs', { function: 'paused', payload: { text } })
    await submit('first')
    const worker = stockWorker(api, 'paused')
    await expect.poll(worker.said).toEqual(['first'])
    await api.act('/functions/pause', { functions: ['paused'] })
    await submit('second')
    await submit('third')
    const consumer = await api.gateway.consumer({ labels: ['fn:paused'] })
    // FETCH waits for two seconds, and so does the worker.
    expect(await consumer.ask('FETCH default')).toBe('$-1')
    expect(worker.said()).toEqual(['first'])
    const { functions } = (await api.get('/functions?contains=paused')) as {
      functions: readonly object[]
    }
    expect(functions).toMatchObject([{ is_function_paused: true, waiting: 2 }])
    expect(await api.gateway.metrics()).toMatch(/^crossgear_function_paused\{.*"paused".*\} 1$/m)
    await api.act('/functions/resume', { functions: ['paused'] })
    await expect.poll(worker.said).toEqual(['first', 'second', 'third'])
  })

  test('a moved job belongs to its new lane and no longer to its old function', async () => {
    const api = await openApi()
    const made = await api.act('/jobs', { function: 'moved@slow', payload: { text: 'x' } })
    const { job } = made as { job: string }
    expect(await api.actOn('move', { jobs: [job], to_queue: 'fast' })).toMatchObject({ done: 1 })
    const slow = stockWorker(api, 'moved@slow')
    const fast = stockWorker(api, 'moved@fast')
    await expect.poll(fast.said).toEqual(['x'])
    expect(slow.said()).toEqual([])
  })
})
