import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiBackend } from '../../src/api/api.ts'
import { readAssets, withRelativeImports } from '../../src/dashboard/assets.ts'
import { Metrics } from '../../src/ops/metrics/metrics.ts'
import { createWebServer } from '../../src/ops/web-server.ts'
import { figuresOf } from '../support/metrics-page.ts'
import { recordingLog } from '../support/recording-log.ts'

const api: ApiBackend = { call: () => Promise.reject(new Error('the API was asked')) }

async function serveDashboard() {
  const web = createWebServer({
    ...{ figures: figuresOf(new Metrics()), check: () => Promise.resolve({ ready: true }) },
    ...{ api, log: recordingLog().log, access: { password: 'sesame, open' } },
  })
  onTestFinished(() => web.close())
  const { port } = await web.listen({ host: '127.0.0.1', port: 0 })
  return (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init)
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
  expect(modules.length).toBeGreaterThan(20)
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
  const style = readFileSync(new URL('../../dashboard/style/base.css', import.meta.url), 'utf8')
  const part = style.split('prefers-color-scheme: dark')[scheme] ?? ''
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
