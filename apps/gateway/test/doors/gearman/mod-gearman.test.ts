import { createCipheriv, createDecipheriv } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { describeGearman, type GearmanGateway } from './support/gearman-gateway.ts'
import type { GearmanPeer } from './support/gearman-peer.ts'

/** The password of both sides, filled up with zeros to the length of a key. */
const key = Buffer.alloc(32)
key.write('should_be_changed')

/** mod_gearman's payload: lines, filled up with zeros, as AES-256-ECB in base64. */
function encrypted(lines: Readonly<Record<string, string>>): string {
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`)
  const plain = Buffer.from(`${text.join('')}\n\n`)
  const blocks = Buffer.alloc(Math.ceil(plain.length / 16) * 16)
  plain.copy(blocks)
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  return Buffer.concat([cipher.update(blocks), cipher.final()]).toString('base64')
}

function decrypted(payload: string): Readonly<Record<string, string>> {
  const cipher = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  const blocks = Buffer.concat([cipher.update(Buffer.from(payload, 'base64')), cipher.final()])
  const lines = blocks.toString().matchAll(/^(\w+)=(.*)$/gm)
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]))
}

function serviceCheck(host: string, service: string): Readonly<Record<string, string>> {
  return {
    type: 'service',
    result_queue: 'check_results',
    host_name: host,
    service_description: service,
    core_time: '1766650000.250000',
    timeout: '60',
    command_line: `/usr/lib/nagios/plugins/check_http -H ${host} -e 'HTTP/1.1 200' -t 10`,
  }
}

/** Takes the next job as libgearman does, which asks for the unique id. */
async function take(worker: GearmanPeer): Promise<{ handle: string; fn: string; payload: string }> {
  const [name, handle = '', fn = '', , payload = ''] = await worker.ask('GRAB_JOB_UNIQ')
  expect(name).toBe('JOB_ASSIGN_UNIQ')
  return { handle, fn, payload }
}

/** Asks as gearman_top does: two commands in one write, and one read for both answers. */
async function readOnce(gateway: GearmanGateway): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write('status\nversion\n')
  const [read] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return read.toString()
}

const statusIn = (read: string): readonly string[] => read.slice(0, read.indexOf('.\n')).split('\n')

describeGearman('needs redis-server: monitoring by mod_gearman', ({ open }) => {
  test('sends checks to workers, and gets their results', async () => {
    const gateway = await open()
    const [core, worker, sender] = [
      await gateway.peer(),
      await gateway.worker('service', 'hostgroup_web', 'dummy'),
      await gateway.peer(),
    ]
    const results = await gateway.worker('check_results')
    await results.send('PRE_SLEEP').sync()
    const check = encrypted(serviceCheck('web1', 'HTTP äöü'))
    await core.submit('SUBMIT_JOB_HIGH_BG', 'service', 'web1-HTTP', check)

    const taken = await take(worker)
    expect(taken).toEqual({ handle: taken.handle, fn: 'service', payload: check })
    expect(decrypted(taken.payload)).toEqual(serviceCheck('web1', 'HTTP äöü'))
    const result = encrypted({
      host_name: 'web1',
      service_description: 'HTTP äöü',
      start_time: '1766650001.000000',
      finish_time: '1766650001.500000',
      return_code: '2',
      exited_ok: '1',
      output: String.raw`HTTP CRITICAL|time=0.5s\nsecond line`,
    })
    await sender.submit('SUBMIT_JOB_BG', 'check_results', '', result)
    await worker.send('WORK_COMPLETE', taken.handle, '').sync()

    expect(await results.receive()).toEqual(['NOOP'])
    const answer = await take(results)
    expect(decrypted(answer.payload)).toMatchObject({ host_name: 'web1', return_code: '2' })
    await results.send('WORK_COMPLETE', answer.handle, '').sync()
    expect(statusIn(await readOnce(gateway))).toContain('service\t0\t0\t1')
  })

  test('checks of a host group go to its workers alone, on-demand checks first', async () => {
    const gateway = await open()
    const [core, worker] = [await gateway.peer(), await gateway.worker('hostgroup_web')]
    const submitted = [
      ['SUBMIT_JOB_LOW_BG', 'hostgroup_web', 'web1'],
      ['SUBMIT_JOB_BG', 'hostgroup_web', 'web2'],
      ['SUBMIT_JOB_BG', 'host', 'db1'],
      ['SUBMIT_JOB_HIGH_BG', 'hostgroup_web', 'web3'],
    ] as const
    for (const [packet, queue, host] of submitted) {
      await core.submit(packet, queue, host, encrypted({ type: 'host', host_name: host }))
    }
    const hosts: (string | undefined)[] = []
    for (let count = 0; count < 3; count += 1) {
      const { handle, payload } = await take(worker)
      hosts.push(decrypted(payload)['host_name'])
      worker.send('WORK_COMPLETE', handle, '')
    }
    expect(hosts).toEqual(['web3', 'web2', 'web1'])
    expect(await worker.ask('GRAB_JOB_UNIQ')).toEqual(['NO_JOB'])
  })

  test('a check that still waits is not queued again, and is when its last run has ended', async () => {
    const gateway = await open()
    const [core, worker] = [await gateway.peer(), await gateway.worker('service')]
    const submit = () =>
      core.submit('SUBMIT_JOB_BG', 'service', 'web1-HTTP', encrypted(serviceCheck('web1', 'HTTP')))
    const first = await submit()
    expect(await submit()).toBe(first)
    const { handle } = await take(worker)
    await worker.send('WORK_COMPLETE', handle, '').sync()
    expect(await worker.ask('GRAB_JOB_UNIQ')).toEqual(['NO_JOB'])
    expect(await submit()).not.toBe(first)
    expect((await take(worker)).fn).toBe('service')
  })

  test('gearman_top and check_gearman read queues and version at once', async () => {
    const gateway = await open()
    const core = await gateway.peer()
    const worker = await gateway.worker('host', 'service', 'worker_node1', 'dummy')
    await worker.sync()
    for (const host of ['web1', 'web2', 'web3']) {
      await core.submit('SUBMIT_JOB_BG', 'host', host, encrypted({ type: 'host', host_name: host }))
    }
    await worker.ask('GRAB_JOB_UNIQ')
    const read = await readOnce(gateway)
    expect([...statusIn(read)].sort()).toEqual(
      ['', 'dummy\t0\t0\t1', 'host\t3\t1\t1', 'service\t0\t0\t1', 'worker_node1\t0\t0\t1'].sort(),
    )
    expect(read.slice(read.indexOf('\n.\n'))).toBe('\n.\nOK 0.1.0\n')
  })

  test('check_gearman asks a worker how it is', async () => {
    const gateway = await open()
    const [client, worker] = [await gateway.peer(), await gateway.worker('worker_node1')]
    const created = await client.submit('SUBMIT_JOB_HIGH', 'worker_node1', 'check', 'check')
    const { handle, payload } = await take(worker)
    expect({ handle, payload }).toEqual({ handle: created, payload: 'check' })
    const state = 'node1 has 5 worker and is working on 2 jobs. Version: 5.1|worker=5 jobs=217c'
    worker.send('WORK_COMPLETE', handle, state)
    expect(await client.receive()).toEqual(['WORK_COMPLETE', handle, state])
  })
})
