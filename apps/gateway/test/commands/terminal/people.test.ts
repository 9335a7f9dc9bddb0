import { expect, test } from 'vitest'
import { apiOnRedis } from '../../web/api/support/api-gateway.ts'
import { type Name, passwords, people } from '../../web/api/support/people.ts'
import { crossgear } from './support/terminal.ts'

const { describeApi, openApi } = apiOnRedis({ isEmptied: true })
const operators = people(
  { alice: 'view', bob: 'operate', carol: 'admin' },
  { bob: { queues: ['mail*'] } },
)

async function opened() {
  const api = await openApi({ operators })
  const url = `http://127.0.0.1:${api.port}`
  const as = (name: Name, words: string, env: Record<string, string> = {}) =>
    crossgear([...words.split(' '), '--user', name], {
      env: { CROSSGEAR_URL: url, CROSSGEAR_WEB_PASSWORD: passwords[name], ...env },
    })
  return { api, url, as }
}

describeApi('people at the terminal', () => {
  test('have the acts of their role, and of their queues; a refusal is one line, code 3', async () => {
    const { api, as, url } = await opened()
    const refused = (stderr: RegExp) => ({ code: 3, stderr: expect.stringMatching(stderr) })
    const pause = 'queues pause mail-out'
    expect(await as('bob', pause)).toMatchObject({ code: 0, stderr: '' })
    expect(await as('bob', 'queues pause bulk')).toMatchObject({
      code: 3,
      stderr: 'The gateway refuses: the queue bulk is not yours: you have mail* (not_yours).\n',
    })
    expect(await as('alice', pause)).toMatchObject(refused(/role operate/))
    expect(await as('bob', 'functions open mail-out')).toMatchObject(refused(/role admin/))
    const wrong = await as('bob', 'queues list', { CROSSGEAR_WEB_PASSWORD: 'x' })
    expect(wrong).toMatchObject(refused(/^The password is wrong: [^\n]*--user\.\n$/))
    const env = { CROSSGEAR_URL: url, CROSSGEAR_USER: 'bob' }
    expect(await crossgear(['queues', 'list'], { env })).toMatchObject({
      code: 1,
      stderr:
        'The password of bob is missing: give it with --web-password or CROSSGEAR_WEB_PASSWORD.\n',
    })
    expect(await api.get('/overview')).toMatchObject({ paused_queues: ['mail-out'] })
  })

  test('audit lists who did what in pages, for programs too, and undoes a deletion', async () => {
    const { api, as } = await opened()
    const client = await api.gateway.faktory({})
    const at = new Date(Date.now() + 3_600_000).toISOString()
    await client.push('scheduled-1', { jobtype: 'mail-out', at })
    for (let turn = 0; turn < 3; turn += 1) await as('bob', 'queues resume mail-out')
    expect((await as('bob', 'jobs delete scheduled-1 --yes')).code).toBe(0)
    const table = await as('carol', 'audit')
    expect(table.stdout).toMatch(/^ENTRY +AT +WHO +DOOR +ADDRESS +ACT +JOBS +UNDO +TARGET\n/)
    expect(table.stdout.split('\n')[1]).toMatch(/ bob +web +127\.0\.0\.1 +deleteJobs +1 +possible /)
    const lines = (await as('carol', 'audit --who bob --since 1h --limit 2 --json')).stdout
    const read = (line: string) => JSON.parse(line) as { entry: string }
    const entries = lines.trim().split('\n').map(read)
    expect(entries).toMatchObject([{ operation: 'deleteJobs' }, { operation: 'resumeQueues' }])
    const undo = `audit undo ${entries[0]?.entry ?? ''}`
    expect(await as('carol', undo)).toMatchObject({ code: 0, stdout: '1 jobs are back.\n' })
    expect((await api.jobs('')).jobs.map(({ jid }) => jid)).toEqual(['scheduled-1'])
    expect(await as('carol', undo)).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/it was undone already/) as string,
    })
    expect(await as('carol', 'audit --who nobody')).toMatchObject({ code: 4 })
    expect(await as('carol', 'audit --since soon')).toMatchObject({
      code: 1,
      stderr: '--since is "soon": give 90s, 30m, 12h or 7d.\n',
    })
    expect((await as('bob', 'audit')).code).toBe(3)
  })
})
