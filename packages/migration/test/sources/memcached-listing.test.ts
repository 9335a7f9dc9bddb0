import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { createInterface } from 'node:readline'
import { afterEach, expect, test } from 'vitest'
import { openSource } from '../../src/sources/open-source.ts'

const keys = ['gear_mail-u1', 'gear_mail-u2', 'gear_mail-u3']
const lineOf = (key: string) => `key=${key} exp=-1 la=1 cas=1 fetch=no cls=1 size=60`

let server: Server | undefined
afterEach(() => server?.close())

/** A memcached that lists as it is told, one list after the other; the last one again and again. */
async function listing(...lists: readonly (readonly string[])[]): Promise<number> {
  let next = 0
  server = createServer((socket) => {
    createInterface(socket).on('line', (request) => {
      const [verb = '', ...words] = request.split(' ')
      const answers: Readonly<Record<string, () => readonly string[]>> = {
        stats: () => (words[0] === 'conns' ? ['END'] : [`STAT curr_items ${keys.length}`, 'END']),
        lru_crawler: () => [...(lists[next++] ?? lists.at(-1) ?? []).map(lineOf), 'END'],
        gets: () => [
          ...words
            .filter((key) => keys.includes(key))
            .flatMap((key) => [`VALUE ${key} 1 1 7`, 'x']),
          'END',
        ],
      }
      socket.write(`${(answers[verb]?.() ?? ['ERROR']).join('\r\n')}\r\n`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function read(port: number) {
  const from = `gearmand+memcached://127.0.0.1:${port}`
  const source = await openSource(from, { isMove: false, functions: [] })
  const [found, rejected]: [string[], string[]] = [[], []]
  for await (const { records, rejects } of source.pages(undefined, { jobs: 2, bytes: 1e6 })) {
    for (const { unique } of records) found.push(String(unique))
    for (const { message } of rejects) rejected.push(message)
  }
  await source.close()
  return { found, rejected }
}

test('an item that was locked when memcached listed its keys is found in the next list', async () => {
  const port = await listing(['gear_mail-u1', 'gear_mail-u3', 'gear_mail-u3'], keys)
  expect(await read(port)).toEqual({ found: ['u1', 'u3', 'u2'], rejected: [] })
})

test('an item missing from every list is reported, even if another is listed twice', async () => {
  const port = await listing(['gear_mail-u1', 'gear_mail-u3', 'gear_mail-u3'])
  const { found, rejected } = await read(port)
  expect(found).toEqual(['u1', 'u3'])
  expect(rejected).toEqual([expect.stringContaining('1 items are kept and not listed')])
})
