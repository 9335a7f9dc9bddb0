import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

// Why `--processes` binds its sockets itself: docs/processes.md promises what these two tests show to be missing.

const program = fileURLToPath(new URL('programs/node-cluster.mjs', import.meta.url))

async function startCluster() {
  const primary = fork(program)
  onTestFinished(() => void primary.kill('SIGKILL'))
  const [{ port, pids }] = (await once(primary, 'message')) as [{ port: number; pids: number[] }]
  onTestFinished(() => pids.forEach(killIfAlive))
  return { primary, port, pids }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Kills a worker; resolves with the number of workers that are left. */
async function kill(primary: ChildProcess, pid: number): Promise<number> {
  const told = once(primary, 'message')
  process.kill(pid, 'SIGKILL')
  const [{ workers }] = (await told) as [{ workers: number }]
  return workers
}

/** The pid that a connection is told; the socket is kept where nobody says anything. */
function ask(port: number): { readonly socket: Socket; readonly answer: Promise<number> } {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const answer = once(socket, 'data').then(([pid]) => Number(String(pid)))
  answer.catch(() => undefined)
  return { socket, answer }
}

test('node:cluster closes its port with its last worker: connections do not wait for the next', async () => {
  const { primary, port, pids } = await startCluster()
  expect(await kill(primary, pids[0]!)).toBe(1)
  expect(await kill(primary, pids[1]!)).toBe(0)
  await expect(ask(port).answer).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

test('node:cluster loses a connection that is under way to a worker that is killed', async () => {
  const { primary, port, pids } = await startCluster()
  const [stopped, other] = pids as [number, number]
  process.kill(stopped, 'SIGSTOP')
  // Each worker is handed one; the one that stands still takes no second.
  const both = [ask(port), ask(port)]
  expect(await Promise.race(both.map(({ answer }) => answer))).toBe(other)
  expect(await kill(primary, stopped)).toBe(1)
  for (let count = 0; count < 3; count += 1) expect(await ask(port).answer).toBe(other)
  // Neither served by the other worker nor closed.
  expect(both.filter(({ socket }) => socket.bytesRead === 0 && !socket.closed)).toHaveLength(1)
})
