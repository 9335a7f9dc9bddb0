import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Connection } from '../../../src/doors/net/connection.ts'
import { InputBudget } from '../../../src/doors/net/input-budget.ts'
import type { ReplySlot } from '../../../src/doors/net/reply-slots.ts'
import { portOfTest } from '../../support/port-of-test.ts'

const requestBytes = 60
const request = Buffer.alloc(requestBytes)

/** Memory of a request that waits, besides its bytes. */
const waitingBytes = 512

/** A peer whose requests each reserve a reply slot, in a door that may have less than two of them waiting. */
async function aPeer() {
  const server = createServer({ allowHalfOpen: true })
  const port = await portOfTest(server)
  const peer = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  peer.on('error', () => undefined)
  onTestFinished(() => void peer.destroy())
  const [socket] = (await once(server, 'connection')) as [Socket]
  const inputBudget = new InputBudget(2 * (requestBytes + waitingBytes))
  const slots: ReplySlot[] = []
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const connection = new Connection(
    socket,
    (owner) => ({
      data: (chunk) => {
        for (let at = 0; at < chunk.length; at += requestBytes) slots.push(owner.reserve())
      },
      work: () => 'none',
      closed: () => undefined,
    }),
    { inputBudget },
  )
  const ask = async (count: number): Promise<void> => {
    const wanted = slots.length + count
    peer.write(Buffer.concat(Array<Buffer>(count).fill(request)))
    await expect.poll(() => slots.length).toBe(wanted)
  }
  return { peer, connection, slots, inputBudget, ask, closed }
}

describe('bytes of requests in the budget of their door', () => {
  test('leave it with their answers, so that reading goes on', async () => {
    const { peer, slots, inputBudget, ask } = await aPeer()
    await ask(2)
    expect(inputBudget.isFull).toBe(true)
    for (const slot of slots) slot.fill(Buffer.from('done'))
    expect(inputBudget.isFull).toBe(false)
    await ask(1)
    expect(inputBudget.isFull).toBe(false)
    slots.at(-1)!.fill(Buffer.from('last'))
    for (let heard = ''; !heard.endsWith('last');) {
      const [chunk] = (await once(peer, 'data')) as [Buffer]
      heard += chunk.toString()
    }
  })

  test('leave it with their connection, if they have no answer', async () => {
    const { connection, inputBudget, ask, closed } = await aPeer()
    await ask(2)
    expect(inputBudget.isFull).toBe(true)
    connection.destroy()
    await closed
    expect(inputBudget.isFull).toBe(false)
  })
})

describe('bytes that others have yet to read', () => {
  const piece = 64 * 1024

  test('hold the connection that sent them from 256 KiB on, until half of them is read', async () => {
    const { connection } = await aPeer()
    const read = Array.from({ length: 5 }, () => connection.countUnread(piece))
    expect(connection.socket.isPaused()).toBe(true)
    for (const one of read.slice(0, 2)) one()
    expect(connection.socket.isPaused()).toBe(true)
    read[2]?.()
    expect(connection.socket.isPaused()).toBe(false)
  })

  test.each(['reads', 'leaves'])('are done with once the peer %s', async (how) => {
    const { peer, connection } = await aPeer()
    peer.pause()
    let isRead = false
    connection.whenRead(() => (isRead = true))
    expect([connection.isBehind, isRead]).toEqual([false, true])
    // More than the system takes for a peer that does not read.
    connection.send(Buffer.alloc(512 * piece))
    await expect.poll(() => connection.socket.writableLength).toBeGreaterThan(16 * piece)
    isRead = false
    connection.whenRead(() => (isRead = true))
    expect([connection.isBehind, isRead]).toEqual([true, false])
    if (how === 'reads') peer.resume()
    else peer.resetAndDestroy()
    await expect.poll(() => isRead).toBe(true)
  })
})

test('bytes that come after the end of a connection are read, and discarded', async () => {
  const { peer, connection, slots, ask, closed } = await aPeer()
  await ask(1)
  connection.end()
  slots[0]!.fill(Buffer.from('last'))
  peer.resume()
  await once(peer, 'end')
  peer.end(Buffer.concat([request, request]))
  await closed
  expect(slots).toHaveLength(1)
})
