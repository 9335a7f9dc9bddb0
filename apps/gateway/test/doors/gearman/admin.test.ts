import { expect, test } from 'vitest'
import { laneNumberIn } from './support/handle-parts.ts'
import { describeGearman } from './support/gearman-gateway.ts'

describeGearman('needs redis-server: an administrator', ({ open }) => {
  test('gets version, log level and process id', async () => {
    const admin = await (await open({ verbosity: 'INFO' })).peer()
    expect(await admin.command('version')).toBe('OK 0.1.0')
    expect(await admin.command('VERSION\r')).toBe('OK 0.1.0')
    expect(await admin.command('verbose and more')).toBe('OK INFO')
    expect(await admin.command('getpid')).toBe(`OK ${process.pid}`)
  })

  test('sees each of many functions once', async () => {
    const admin = await (await open()).peer()
    const names = Array.from({ length: 2_001 }, (_none, at) => `f${at}`)
    for (const name of names) admin.send('SUBMIT_JOB_BG', name, '', '')
    await admin.receiveMany(names.length)
    const rows = names.map((name) => `${name}\t1\t0\t0`)
    expect((await admin.list('status')).sort()).toEqual(rows.sort())
    expect(new Set(await admin.list('prioritystatus')).size).toBe(names.length)
  })

  test('sees the effect of the command before it on the same connection', async () => {
    const admin = await (await open()).peer()
    admin.send('CAN_DO', 'a').send('CAN_DO', 'b').send('SUBMIT_JOB_BG', 'c', '', '')
    admin.send('CANT_DO', 'a').sendBytes('status\n')
    const lines = (await admin.receiveMany(5)).slice(1).map(([, line]) => line)
    expect(lines.sort()).toEqual(['.', 'a\t0\t0\t0', 'b\t0\t0\t1', 'c\t1\t0\t0'])
  })

  test('cancels a queued job: its clients get a failure', async () => {
    const gateway = await open()
    const [admin, client] = [await gateway.peer(), await gateway.peer()]
    const handle = await client.submit('SUBMIT_JOB_HIGH', 'mail', 'u', '')
    expect(await admin.command(`cancel job ${handle}`)).toBe('OK')
    expect(await client.receive()).toEqual(['WORK_FAIL', handle])
    expect(await admin.command(`cancel job ${handle}`)).toBe('ERR UNKNOWN_JOB')
    expect(await admin.list('status')).toEqual(['mail\t0\t0\t0'])
    expect(await client.submit('SUBMIT_JOB', 'mail', 'u', '')).not.toBe(handle)
  })

  test('creates and drops functions', async () => {
    const gateway = await open()
    const admin = await gateway.peer()
    expect(await admin.command('create function mail')).toBe('OK')
    expect(await admin.list('status')).toEqual(['mail\t0\t0\t0'])
    expect(await admin.command('drop function mail')).toBe('OK')
    expect(await admin.command('drop function mail')).toBe('ERR function not found')
    expect(await admin.list('status')).toEqual([])
    expect((await admin.command(`create function ${'x'.repeat(513)}`)).slice(0, 21)).toBe(
      'ERR INVALID_ARGUMENTS',
    )
  })

  test('drops a function with its waiting jobs, and its handles for good', async () => {
    const gateway = await open()
    const [admin, client] = [await gateway.peer(), await gateway.peer()]
    const handle = await client.submit('SUBMIT_JOB', 'mail', 'u', '')
    await client.submit('SUBMIT_JOB_EPOCH', 'mail', '', '4000000000', '')
    expect(await admin.command('drop function mail')).toBe('OK')
    expect(await client.receive()).toEqual(['WORK_FAIL', handle])
    const again = await client.submit('SUBMIT_JOB', 'mail', 'u', '')
    expect(laneNumberIn(again)).not.toBe(laneNumberIn(handle))
    expect(await admin.list('status')).toEqual(['mail\t1\t0\t0'])
  })

  test('sets limits only of existing functions', async () => {
    const admin = await (await open()).peer()
    expect(await admin.command('maxqueue mail 1')).toBe('OK')
    expect(await admin.list('status')).toEqual([])
    await admin.submit('SUBMIT_JOB_BG', 'mail', '', '')
    await admin.submit('SUBMIT_JOB_BG', 'mail', '', '')
  })

  test('sets limits of a function that a worker has just named', async () => {
    const worker = await (await open()).peer()
    worker.send('CAN_DO', 'mail')
    expect(await worker.command('maxqueue mail 1 2 3')).toBe('OK')
    expect(await worker.list('show maxqueue')).toEqual(['mail\t1\t2\t3\t0\t0'])
  })

  test('ends the server, at once or gracefully', async () => {
    const gateway = await open()
    const admin = await gateway.peer()
    expect(await admin.command('shutdown')).toBe('OK')
    expect(await admin.command('shutdown graceful')).toBe('OK')
    expect(await admin.command('shutdown now')).toContain('ERR UNKNOWN_COMMAND')
    expect(gateway.shutdowns).toEqual([false, true])
  })
})
