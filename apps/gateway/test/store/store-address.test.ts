import { describe, expect, test } from 'vitest'
import { maskStoreUrl, parseStoreUrl, printStoreAddress } from '../../src/config/store-address.ts'

describe('a store URL', () => {
  const tcp = { host: 'h', port: 6379, tls: false, db: 0 }
  test.each([
    ['redis://h', tcp],
    ['redis://h:7000', { ...tcp, port: 7000 }],
    ['redis://h/', tcp],
    ['redis://h:7000/2', { ...tcp, port: 7000, db: 2 }],
    ['rediss://h', { ...tcp, tls: true }],
    ['redis://:p%40ss@h', { ...tcp, password: 'p@ss' }],
    ['redis://user:pass@h:1/2', { ...tcp, username: 'user', password: 'pass', port: 1, db: 2 }],
    ['redis://[::1]:7000', { ...tcp, host: '::1', port: 7000 }],
    ['unix:///tmp/r.sock', { path: '/tmp/r.sock', db: 0 }],
    [
      'unix:///tmp/a%20b.sock?db=2&password=x%26y',
      { path: '/tmp/a b.sock', db: 2, password: 'x&y' },
    ],
    ['unix:///r?username=u&password=p', { path: '/r', db: 0, username: 'u', password: 'p' }],
    ['redis+cluster://a', { nodes: [{ host: 'a', port: 6379 }], tls: false }],
    [
      'rediss+cluster://u:p%40@a:1,[::1]:2',
      {
        nodes: [
          { host: 'a', port: 1 },
          { host: '::1', port: 2 },
        ],
        tls: true,
        username: 'u',
        password: 'p@',
      },
    ],
    [
      'redis+sentinel://:p@a,b:7/main?db=3&sentinel_password=s',
      {
        sentinels: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 7 },
        ],
        name: 'main',
        tls: false,
        db: 3,
        password: 'p',
        sentinelPassword: 's',
      },
    ],
  ])('%s is read', (url, address) => {
    expect(parseStoreUrl(url)).toEqual(address)
  })

  test.each([
    'h:6379',
    'http://h',
    'redis://',
    'redis:///2',
    'redis://h/x',
    'redis://h/-1',
    'redis://h:99999',
    'redis://h?db=2',
    'redis://%zz',
    'redis+cluster://',
    'redis+cluster://a,,b',
    'redis+cluster://a:99999',
    'redis+cluster://a/1',
    'redis+sentinel://a:1',
    'redis+sentinel://a:1/main?x=1',
    'unix://',
    'unix:///',
    'unix://host/path',
    'unix:///p?db=x',
    'unix:///p?databse=1',
    '',
  ])('%j is refused', (url) => {
    expect(parseStoreUrl(url)).toBeUndefined()
  })

  test.each([
    ['redis://h:1/2', 'redis://h:1/2'],
    ['redis://:secret@h', 'redis://:***@h:6379'],
    ['rediss://u:secret@[::1]:1', 'rediss://u:***@[::1]:1'],
    ['unix:///tmp/a%20b?db=3&password=secret', 'unix:///tmp/a%20b?db=3'],
    ['redis+cluster://u:secret@a:1,[::1]:2', 'redis+cluster://u:***@a:1,[::1]:2'],
    ['redis+sentinel://:secret@a/m?sentinel_password=x', 'redis+sentinel://:***@a:26379/m'],
  ])('%s is printed without its password', (url, printed) => {
    expect(printStoreAddress(parseStoreUrl(url)!)).toBe(printed)
  })

  test.each([
    ['redis://u:a/b@c@h/x', 'redis://u:***@h/x'],
    ['redis://h:1/x', 'redis://h:1/x'],
    [
      'redis+sentinel://u:a@h?sentinel_password=b',
      'redis+sentinel://u:***@h?sentinel_password=***',
    ],
    ['unix:///p?password=a&db=x', 'unix:///p?password=***&db=x'],
  ])('an invalid %s is shown without its password', (url, shown) => {
    expect(maskStoreUrl(url)).toBe(shown)
  })
})
