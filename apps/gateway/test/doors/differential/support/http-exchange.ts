import { once } from 'node:events'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { encodeRequest } from '@crossgear/gearman-codec'
import type { HttpCase } from '../http/cases.ts'
import type { Request } from '../script.ts'
import { Connection } from './connection.ts'
import { Names } from './names.ts'
import type { Server } from './server.ts'

const compared = /^(X-Gearman-[^:]+|Content-Length|Server):/i
const wholeAnswer = /^HTTP\/1\.[01] (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/

/** Plays one case against one server: what the worker and the client hear, and what is left. */
export async function exchange(
  { before = [], requests, answers = 1, leaves, work }: HttpCase,
  server: Server,
): Promise<readonly string[]> {
  const admin = await Connection.open(server.ports.at(-1) ?? 0)
  const worker = await Connection.open(server.ports.at(-1) ?? 0)
  try {
    for (const line of before) admin.send(Buffer.from(`${line}\n`))
    await admin.barrier()
    admin.take()
    if (work) worker.send(encodeRequest('CAN_DO', 'mail'))
    worker.send(encodeRequest('PRE_SLEEP'))
    await worker.barrier()
    const lines: string[] = []
    for (const request of requests) {
      const socket = connect(server.httpPort, '127.0.0.1')
      await once(socket, 'connect')
      socket.write(Buffer.from(request, 'latin1'))
      if (leaves) {
        await untilListed(admin, isQueued)
        socket.destroy()
        await untilListed(admin, isIgnored)
      } else {
        const answer = buffer(socket)
        if (work) lines.push(...(await carryOut(work, worker)))
        lines.push(...answersOf(await answer, answers))
      }
    }
    await server.rest()
    for (const command of ['prioritystatus', 'show unique jobs']) {
      const list = await admin.list(command)
      lines.push(...[...list].sort().map((line) => `${command} ${JSON.stringify(line)}`))
    }
    return lines
  } finally {
    admin.close()
    worker.close()
  }
}

async function carryOut(work: readonly Request[], worker: Connection): Promise<readonly string[]> {
  const names = new Names()
  await worker.waitFor(() => worker.count > 0)
  worker.send(encodeRequest('GRAB_JOB_UNIQ'))
  await worker.barrier()
  const lines = worker.take().map((message) => `worker ${names.lineOf(message)}`)
  for (const [name, ...args] of work) {
    const [handle = '', ...more] = args.map((arg) => names.fill(arg))
    worker.send(encodeRequest(name as 'WORK_DATA', handle, ...(more as [Buffer])))
    await worker.barrier()
  }
  return lines
}

const isQueued = /^\S+\t\d+\t0\t0\n/
const isIgnored = /^\S+\t\d+\t1\t0\n/

async function untilListed(admin: Connection, holds: RegExp): Promise<void> {
  while (!(await admin.list('show jobs')).some((line) => holds.test(line))) continue
}

/** The first answers that came, without the headers that say nothing of a job. */
function answersOf(bytes: Buffer, max: number): readonly string[] {
  const lines: string[] = []
  let rest = bytes.toString('latin1')
  for (let count = 0; count < max; count += 1) {
    const [head = '', status, headers = ''] = wholeAnswer.exec(rest) ?? []
    if (status === undefined) break
    const shown = headers.split('\r\n').filter((line) => compared.test(line))
    lines.push(status, ...shown.map((line) => plain(line)).sort())
    const length = Number(/^content-length: (\d+)/im.exec(headers)?.[1] ?? 0)
    rest = rest.slice(head.length)
    const body = isNextAnswer(rest) ? '' : rest.slice(0, length)
    lines.push(`body ${short(body)}`)
    rest = rest.slice(body.length)
  }
  return lines.length > 0 || rest === '' ? lines : ['what is no answer']
}

function isNextAnswer(text: string): boolean {
  return text.startsWith('HTTP/1.')
}

/** Handles and versions made equal. */
function plain(text: string): string {
  return text.replaceAll(/H:test:\d+/g, 'H#').replaceAll(/Gearman\/[\w.+]+/g, 'Gearman/<version>')
}

function short(text: string): string {
  return text.length > 400 ? `of ${text.length} bytes` : JSON.stringify(text)
}
