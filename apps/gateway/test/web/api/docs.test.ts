import { readFileSync } from 'node:fs'
import { lacksRedis } from '@crossgear/tools/redis-server'
import { expect, test } from 'vitest'
import { apiErrors } from '../../../src/web/api/api-error.ts'
import { callBounds } from '../../../src/web/api/limits/call-cost.ts'
import type { Endpoint } from '../../../src/web/api/endpoint.ts'
import { endpoints } from '../../../src/web/api/endpoints.ts'
import { openApiDocument } from '../../../src/web/api/open-api.ts'
import { webEndpoints } from '../../../src/web/api/web-endpoints.ts'
import { apiPrefix } from '../../../src/operations/page.ts'
import { openOnRedis } from '../../config/options/composed-gateway.ts'
import { openApi, publishedDocument } from './support/api-gateway.ts'

const { open } = openOnRedis()
const page = readFileSync(new URL('../../../../../docs/reference/api.md', import.meta.url), 'utf8')
const all: Readonly<Record<string, Endpoint>> = { ...webEndpoints, ...endpoints }

/** Cells of the rows of the table whose head begins so. */
function rows(head: string): string[][] {
  const [, section = ''] = page.split(`| ${head} `)
  const [table = ''] = section.split('\n\n', 1)
  return table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
}

test('docs/reference/api.md lists exactly the operations and the roles they need', () => {
  const listed = rows('operation').map(([, operation, role]) => `${operation ?? ''} ${role ?? ''}`)
  const known = Object.values(all).map(
    ({ method, path, role }) => `${method} ${apiPrefix}${path} ${role}`,
  )
  expect(listed.sort()).toEqual(known.sort())
})

test('docs/reference/api.md lists exactly the error codes and their statuses', () => {
  const listed = rows('code').map(([, code = '', status]) => [code, Number(status)])
  expect(Object.fromEntries(listed)).toEqual(apiErrors)
})

test('docs/reference/api.md and docs/reference/limits.md have the bounds of light and heavy calls', () => {
  const limits = readFileSync(
    new URL('../../../../../docs/reference/limits.md', import.meta.url),
    'utf8',
  )
  const inThousands = (units: number): string => units.toLocaleString('en')
  for (const kind of ['light', 'heavy'] as const) {
    const { atOnce, waiting, waitMs, unitsPerSecond, burstUnits } = callBounds[kind]
    const units = [unitsPerSecond, burstUnits].map(inThousands).join('; ')
    expect(page).toMatch(
      new RegExp(`\\| ${kind} +\\|.*\\| ${atOnce}; ${waiting} +\\| ${units} +\\|`),
    )
    const waits = `${kind} API calls that run at a time; that wait, for up to ${waitMs / 1000} s`
    expect(limits).toMatch(new RegExp(`\\| ${waits} +\\| ${atOnce}; ${waiting} `))
    expect(limits).toMatch(new RegExp(`\\| units of ${kind} calls [^|]*\\| ${units} `))
  }
})

test('the OpenAPI document has each operation once, with its role and a schema of its answer', () => {
  const { paths } = openApiDocument(all, '1') as {
    paths: Record<string, Record<string, { operationId: string; 'x-role': string }>>
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(all).sort())
  expect(operations.every((operation) => operation['x-role'] !== '')).toBe(true)
})

test.skipIf(lacksRedis)(
  'a gateway serves the OpenAPI document that the answers of tests are checked against',
  async () => {
    const api = await openApi(open)
    expect(await api.get('/openapi.json')).toEqual(publishedDocument)
  },
)
