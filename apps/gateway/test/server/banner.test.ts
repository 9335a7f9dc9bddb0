import { expect, onTestFinished, test, vi } from 'vitest'
import {
  announce,
  describe as describeGateway,
  renderBanner,
  type Announcement,
} from '../../src/server/banner.ts'
import { recordingLog } from '../support/recording-log.ts'

const announcement: Announcement = {
  version: '1.2.3',
  doors: [
    { name: 'gearman', host: '0.0.0.0', port: 4730, tls: false },
    { name: 'faktory', host: '::1', port: 7419, tls: false },
    { name: 'web', host: '*', port: 7420, tls: false },
  ],
  store: { kind: 'private', describe: 'private Redis 7', nativeUrl: 'redis://127.0.0.1:6379' },
  hasPassword: false,
  voice: 'text',
  log: recordingLog().log,
}

test('the banner names the store and every open door, with a command to try each', () => {
  expect(renderBanner(announcement)).toBe(String.raw`
Crossgear 1.2.3 is ready.

  Store       private Redis 7
  Gearman     0.0.0.0:4730             try: gearman -h 127.0.0.1 -p 4730 -b -f hello world
  Faktory     [::1]:7419               try: printf 'HELLO {"v":2}\nPUSH {"jid":"hello-0001","jobtype":"hello","args":["world"]}\nEND\n' | curl -s telnet://[::1]:7419
  Dashboard   *:7420                   open: http://127.0.0.1:7420/
  GearMonkey  redis://127.0.0.1:6379   try: redis-cli -u 'redis://127.0.0.1:6379' HGETALL job:hello:1

Ctrl-C stops it.
`)
})

test('ports with TLS are tried by it', () => {
  const doors = announcement.doors.map((door) => ({ ...door, tls: true }))
  const banner = renderBanner({ ...announcement, doors })
  expect(banner).toContain('try: gearman -S -h 127.0.0.1 -p 4730 -b -f hello world\n')
  expect(banner).toContain('try: FAKTORY_URL=tcp+tls://[::1]:7419 <any Faktory client>\n')
  expect(banner).toContain('open: https://127.0.0.1:7420/\n')
})

const store = {
  ...announcement.store,
  nativeUrl: 'redis://default:secret@127.0.0.1:6379',
  address: { host: 'h', port: 1, tls: false, db: 0, password: 'secret' },
}

test("the structured log line has the same content, without the store's password", () => {
  const line = JSON.stringify(describeGateway({ ...announcement, store, hasPassword: true }))
  expect(line).toContain('FAKTORY_URL=tcp://:PASSWORD@[::1]:7419')
  expect(line).toContain('redis://default:***@127.0.0.1:6379')
  expect(line).not.toContain('secret')
})

test('a store on a socket alone is tried by its path, and its password is not shown either', () => {
  const nativeUrl = 'unix:///var/lib/x/store.sock?password=secret'
  const { store } = describeGateway({
    ...announcement,
    store: { ...announcement.store, nativeUrl },
  })
  expect(store.nativeUrl).toBe('unix:///var/lib/x/store.sock?password=***')
  expect(store.try).toBe(`redis-cli -s '/var/lib/x/store.sock' -a '***' HGETALL job:hello:1`)
})

test.each([
  [true, 'secret'],
  [false, '***'],
])('with a terminal (%s) the banner shows the password as %s', (isTerminal, shown) => {
  const stdout = vi.spyOn(process, 'stdout', 'get')
  const write = vi.fn()
  stdout.mockReturnValue({ isTTY: isTerminal, write } as unknown as NodeJS.WriteStream & { fd: 1 })
  onTestFinished(() => stdout.mockRestore())
  announce({ ...announcement, store })
  expect(String(write.mock.calls[0]?.[0])).toContain(`redis://default:${shown}@127.0.0.1:6379`)
})
