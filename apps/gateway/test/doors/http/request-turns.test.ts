import { expect, onTestFinished, test } from 'vitest'
import { idIn } from '../gearman/support/handle-parts.ts'
import { TurnsByHand } from '../../support/turns-by-hand.ts'
import { ask, background, openRaw, postText } from './support/http-client.ts'
import { nextJob, openHttp } from './support/http-gateway.ts'

const post = (fn: string, body: string) => postText(fn, body, 'X-Gearman-Background: true\r\n')

/** Handles in the answers that have come. */
function handlesOf(text: string): readonly string[] {
  return [...text.matchAll(/X-Gearman-Job-Handle: (\S+)/g)].map(([, handle = '']) => handle)
}

async function opened() {
  const hand = new TurnsByHand()
  const { port, worker } = await openHttp({ turns: hand.turns })
  const socket = await openRaw(port)
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  const handles = (): readonly string[] => handlesOf(text)
  /** Takes turns until so many answers have come. */
  const answered = (count: number) =>
    expect
      .poll(async () => {
        await hand.takeAll()
        return handles().length
      })
      .toBe(count)
  return { hand, port, socket, handles, answered, worker }
}

test('a client that sends many requests ahead takes turns, and others are answered at once', async () => {
  const { hand, port, socket, handles, answered } = await opened()
  socket.write(Array.from({ length: 200 }, (_none, at) => post('f', `job ${at}`)).join(''))
  await expect.poll(() => handles().length).toBe(7)
  expect((await ask(port, '/g', { headers: background }, 'x')).status).toBe(200)
  expect(handles()).toHaveLength(7)
  hand.take()
  await expect.poll(() => handles().length).toBeGreaterThan(7)
  expect(handles().length).toBeLessThan(20)
  await answered(200)
  const ids = handles().map((handle) => Number(idIn(handle)))
  expect(ids).toEqual([...ids].sort((one, other) => one - other))
})

test('requests ahead arrive whole, wherever their bytes are cut', async () => {
  const { socket, answered, worker } = await opened()
  // Ends of heads in bodies, and bodies longer than a read.
  const bodies = ['\r\n\r\n'.repeat(40), 'x'.repeat(200_000), '', 'end\r\n\r\n']
  const sent = Array.from({ length: 10 }, (_none, round) => bodies.map((body) => `${round}${body}`))
  for (const round of sent) socket.write(round.map((body) => post('f', body)).join(''))
  await answered(40)
  const hands = await worker('f')
  const came: (string | undefined)[] = []
  while (came.length < 40) came.push((await nextJob(hands)).at(-1))
  expect(came).toEqual(sent.flat())
})

test('a client that reads no answers is not read from, and gets all of them when it does', async () => {
  const { hand, socket, answered } = await opened()
  const headers = Array.from({ length: 900 }, (_none, at) => post('f', `job ${at}`)).join('')
  socket.pause()
  socket.write(headers)
  await hand.takeAll()
  socket.resume()
  await answered(900)
})
