import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadFile, refusal } from '../../support/settings.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Keys, routesText } from './support/routes.ts'

async function routeOf(keys: Keys) {
  return (await loadFile(routesText({ resize: keys }))).routes.get('resize')
}

/** The line, without the path of the file. */
const refusedLine = async (keys: Keys): Promise<string> =>
  (await refusal(() => routeOf(keys))).replace(' in FILE', '')

const url = 'https://resize.example.com/run?key=1'

test('a route pushes, with the documented defaults', async () => {
  expect(await routeOf({ push: url, queue: 'images' })).toEqual({
    queue: 'images',
    push: {
      url,
      allowsPrivate: false,
      concurrency: 10,
      timeoutMs: 60_000,
      maxFailures: 5,
      maxAnswerBytes: 1_048_576,
      contentType: 'application/octet-stream',
      restMs: 30_000,
    },
  })
})

test('a secret is itself or the content of its file', async () => {
  const file = join(await temporaryFolder(), 'secret')
  writeFileSync(file, 'from the file\n')
  const secretOf = async (push_secret: string) => (await routeOf({ push: url, push_secret }))?.push
  expect(await secretOf('sesame')).toMatchObject({ secret: 'sesame' })
  expect(await secretOf(file)).toMatchObject({ secret: 'from the file' })
})

test.each([
  ['http://example.com/', 'routes.resize.push is not https://, which takes push_private = true.'],
  ['ftp://example.com/', 'routes.resize.push is no https:// URL.'],
  ['example.com', 'routes.resize.push is wrong: give an https:// URL.'],
  ['https://example.com/#part', 'routes.resize.push has a fragment, which no server gets.'],
  ...[
    'localhost',
    'db.localhost',
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '10.1.2.3',
    '0.0.0.0',
    '172.31.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    '224.0.0.1',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[::ffff:10.0.0.1]',
    '[64:ff9b::a00:1]',
    '[2002:a00:1::]',
    '[2001:db8::1]',
    '[ff02::1]',
  ].map((host): [string, string] => [
    `https://user:sesame@${host}/`,
    'routes.resize.push is a private address, which takes push_private = true.',
  ]),
])('%s is refused, and not shown', async (push, line) => {
  expect(await refusedLine({ push })).toBe(line)
})

test.each(['https://8.8.8.8/', 'https://[2606:4700::1111]/', 'https://user:key@example.com/a?b'])(
  '%s is taken',
  async (push) => {
    expect((await routeOf({ push }))?.push?.url).toBe(push)
  },
)

test.each(['http://localhost:8080/', 'https://10.0.0.1/', 'http://[::1]/'])(
  '%s is taken with push_private',
  async (push) => {
    expect((await routeOf({ push, push_private: true }))?.push?.allowsPrivate).toBe(true)
  },
)

test.each<[Keys, string]>([
  [
    { push_concurrency: 4 },
    'routes.resize.push_concurrency has no effect alone: give push with it.',
  ],
  [{ push_concurrency: 0 }, 'push_concurrency is 0: give a whole number from 1 to 1000.'],
  [{ push_timeout_seconds: 0.5 }, 'is 0.5: give a whole number from 1 to 86400.'],
  [{ push_max_answer_bytes: -1 }, 'is -1: give a whole number from 0 to 1073741824.'],
  [{ push_max_failures: 0 }, 'is 0: give a whole number from 1 to 1000000.'],
  [{ push_rest_seconds: 4000 }, 'is 4000: give a whole number from 1 to 3600.'],
  [{ push_content_type: 'a\r\nb: c' }, 'give a media type such as application/json.'],
  [{ push_private: 'yes' }, 'push_private is "yes": give true or false.'],
  [{ push_secret: 5 }, 'push_secret is wrong: give a secret, or the path of a file'],
  [{ push: url, push_secret: '/no/such' }, 'must be a file that can be read'],
  [{ push: url, push_ca: '/no/such' }, 'names /no/such, which cannot be read (ENOENT).'],
  [{ push: url, push_cert: '/no/such' }, 'routes.resize.push_key'],
])('%j is refused', async (keys, line) => {
  expect(await refusedLine(keys)).toContain(line)
})
