import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiBackend } from '../../../src/web/api/api.ts'
import { readAssets, styleNames, withRelativeImports } from '../../../src/web/dashboard/assets.ts'
import { linkModules } from '../../../src/web/dashboard/assets.ts'
import { Metrics } from '../../../src/operations/metrics/metrics.ts'
import { createWebServer } from '../../../src/web/web-server.ts'
import { figuresOf } from '../../support/metrics-page.ts'
import { recordingLog } from '../../support/recording-log.ts'

const api: ApiBackend = { call: () => Promise.reject(new Error('the API was asked')) }

async function listening(): Promise<number> {
  const web = createWebServer({
    figures: figuresOf(new Metrics()),
    check: () => Promise.resolve({ ready: true }),
    api,
    log: recordingLog().log,
    access: { password: 'sesame, open' },
  })
  onTestFinished(() => web.close())
  return (await web.listen({ host: '127.0.0.1', port: 0 })).port
}

async function serveDashboard() {
  const port = await listening()
  return (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)
}

/** The bytes as they were sent. */
async function raw(port: number, path: string, headers: Record<string, string>) {
  // On a connection of its own: the server ends one that was idle, which a busy machine would use again.
  const asking = get({ port, path, headers, agent: false })
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  const body = Buffer.concat(await response.toArray())
  return { status: response.statusCode, headers: response.headers, body }
}

test('the page may load files of this server only, and run no inline script', async () => {
  const ask = await serveDashboard()
  const page = await ask('/')
  expect(page.status).toBe(200)
  expect(page.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  )
  expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  const text = await page.text()
  expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|https?:/)
  for (const [, path = ''] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
    expect([path, (await ask(`/${path}`)).status]).toEqual([path, 200])
  }
})

test('every module imports others by paths that are served, and names no other server', () => {
  const assets = readAssets()
  const modules = [...assets].filter(([path]) => path.endsWith('.js'))
  expect(modules.map(([path]) => path)).toContain('/ui/app.js')
  for (const [path, { body }] of modules) {
    const text = body.toString()
    const imports = [
      ...text.matchAll(/(?:^|[\n;])\s*(?:import|export)\b[^;'"()=]*["']([^"']+)["']/g),
    ].map(([, name = '']) => new URL(name, `http://gateway${path}`).pathname)
    expect(imports.filter((name) => !assets.has(name))).toEqual([])
    expect(text).not.toMatch(/sourceMappingURL=/)
    if (!path.startsWith('/ui/lib/')) expect(text).not.toMatch(/innerHTML/i)
  }
})

test('the page needs few files, which the page itself names', async () => {
  const text = await (await (await serveDashboard())('/')).text()
  const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => `/${path}`)
  expect(named.toSorted()).toEqual(
    [...readAssets().keys()].filter((path) => path !== '/').toSorted(),
  )
  expect(named.length).toBeLessThan(10)
})

test('the style of the page is that of all its sheets', () => {
  const folder = new URL('../../../dashboard/style/', import.meta.url)
  const files = readdirSync(folder).map((file) => file.replace('.css', ''))
  expect([...styleNames].sort()).toEqual(files.sort())
})

test.each([
  ['br, gzip', 'br', brotliDecompressSync],
  ['gzip, br;q=0', 'gzip', gunzipSync],
  ['identity', undefined, (bytes: Buffer) => bytes],
] as const)(
  'to a browser that takes %s the files are sent as %s',
  async (accepted, name, decode) => {
    const web = await listening()
    const { headers, body } = await raw(web, '/ui/app.js', { 'Accept-Encoding': accepted })
    expect([headers['content-encoding'], headers['vary']]).toEqual([name, 'Accept-Encoding'])
    const whole = readAssets().get('/ui/app.js')?.body ?? Buffer.alloc(0)
    expect(decode(body)).toEqual(whole)
    if (name !== undefined) expect(body.length).toBeLessThan(whole.length / 3)
    const known = { 'Accept-Encoding': accepted, 'If-None-Match': headers.etag ?? '' }
    expect(await raw(web, '/ui/app.js', known)).toMatchObject({ status: 304 })
    // A cache that holds this form must not keep another one for it.
    const other = {
      'Accept-Encoding': name === 'br' ? 'gzip' : 'br',
      'If-None-Match': known['If-None-Match'],
    }
    expect(await raw(web, '/ui/app.js', other)).toMatchObject({ status: 200 })
  },
)

test('modules become one, in the order of their imports, each with names of its own', async () => {
  const files: Record<string, string> = {
    'app.js':
      "import { b } from './in/b.js'\nimport all from './lib/x.js'\nconst own = 1\nexport const sum = own + b + all",
    'in/b.js':
      "import { own as other } from '../c.js'\nconst own = 2\nexport const b = own + other",
    'c.js': 'export const own = 30',
  }
  const read = (path: string): string => files[path] ?? ''
  const joined = linkModules('app.js', { read, isOutside: (path) => path.startsWith('lib/') })
  const runnable = joined.replace("'./lib/x.js'", "'data:text/javascript,export default 400'")
  const url = `data:text/javascript,${encodeURIComponent(`${runnable}export const { sum } = module_app_js`)}`
  expect(await import(url)).toMatchObject({ sum: 433 })
})

test.each([
  ['a circle of imports', { 'app.js': "import { a } from './app.js'" }, 'imports itself'],
  ['an unknown form', { 'app.js': "export * from './b.js'" }, 'cannot be joined: export *'],
])('modules with %s are not joined', (_name, files, words) => {
  const read = (path: string): string => (files as Record<string, string>)[path] ?? ''
  expect(() => linkModules('app.js', { read, isOutside: () => false })).toThrow(words)
})

test('a browser that has a file is not sent it again, until it changes', async () => {
  const ask = await serveDashboard()
  const first = await ask('/ui/app.js')
  expect(first.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(first.headers.get('cache-control')).toBe('no-cache')
  const tag = first.headers.get('etag') ?? ''
  const again = await ask('/ui/app.js', { headers: { 'If-None-Match': tag } })
  expect([again.status, await again.text()]).toEqual([304, ''])
  const other = await ask('/ui/app.js', { headers: { 'If-None-Match': '"other"' } })
  expect(other.status).toBe(200)
})

test('only files of the dashboard are served', async () => {
  const ask = await serveDashboard()
  for (const path of ['/ui/types.d.ts', '/ui/../package.json', '/ui/%2e%2e/package.json', '/ui/']) {
    expect([path, (await ask(path)).status]).toEqual([path, 404])
  }
  expect((await ask('/', { method: 'POST' })).status).toBe(404)
})

test("a package's module that no longer has the replaced import is reported", () => {
  expect(withRelativeImports('import{a}from"preact";', { preact: './preact.js' })).toBe(
    'import{a}from"./preact.js";',
  )
  expect(() => withRelativeImports('import a from "other"', { preact: './preact.js' })).toThrow(
    'does not import preact',
  )
})

/** The share of light of a colour, as WCAG 2 counts it. */
function lightOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

test.each([
  ['light', 0],
  ['dark', 1],
])('the text of a state has the contrast of WCAG AA, %s', (_name, scheme) => {
  const style = readFileSync(new URL('../../../dashboard/style/base.css', import.meta.url), 'utf8')
  const part = style.split("[data-theme='dark']")[scheme] ?? ''
  const colours = new Map(
    [...part.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [
      name,
      lightOf(value),
    ]),
  )
  const states = ['waiting', 'running', 'scheduled', 'retry', 'dead', 'neutral']
  const faint = states.filter((state) => {
    const pair = [colours.get(state) ?? 0, colours.get(`${state}-soft`) ?? 0]
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05) < 4.5
  })
  expect(faint).toEqual([])
})
