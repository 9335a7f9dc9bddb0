import { expect, onTestFinished, test } from 'vitest'
import { TurnsByHand } from '../support/turns-by-hand.ts'
import { ask, openRaw } from './support/http-client.ts'
import { openHttp } from './support/http-gateway.ts'

const background = { 'X-Gearman-Background': 'true' }
const post = (fn: string, body = '') =>
  `POST /${fn} HTTP/1.1\r\nX-Gearman-Background: true\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** Handles in the answers that have come. */
function handlesOf(text: string): readonly string[] {
  return [...text.matchAll(/X-Gearman-Job-Handle: (\S+)/g)].map(([, handle = '']) => handle)
}

async function opened() {
  const hand = new TurnsByHand()
  const { port } = await openHttp({ turns: hand.turns })
  const socket = await openRaw(port)
  onTestFinished(() => void socket.destroy())
  const answers = { text: '' }
  socket.on('data', (chunk) => (answers.text += chunk.toString('latin1')))
  return { hand, port, socket, answers }
}

test('a client that sends many requests ahead takes turns, and others are answered at once', async () => {
  const { hand, port, socket, answers } = await opened()
  socket.write(Array.from({ length: 200 }, (_none, at) => post('f', `job ${at}`)).join(''))
  await expect.poll(() => handlesOf(answers.text).length).toBe(7)
  expect((await ask(port, '/g', { headers: background }, 'x')).status).toBe(200)
  expect(handlesOf(answers.text)).toHaveLength(7)
  hand.take()
  await expect.poll(() => handlesOf(answers.text).length).toBeGreaterThan(7)
  expect(handlesOf(answers.text).length).toBeLessThan(20)
  await expect
    .poll(async () => {
      await hand.takeAll()
      return handlesOf(answers.text).length
    })
    .toBe(200)
  const ids = handlesOf(answers.text).map((handle) => Number(handle.split(':').at(-1)))
  expect(ids).toEqual([...ids].sort((one, other) => one - other))
})

test('requests ahead arrive whole, wherever their bytes are cut', async () => {
  const { hand, socket, answers } = await opened()
  // Ends of heads in bodies, and bodies longer than a read.
  const bodies = ['\r\n\r\n'.repeat(40), 'x'.repeat(200_000), '', 'end\r\n\r\n']
  for (let round = 0; round < 10; round += 1) {
    socket.write(bodies.map((body) => post('f', `${round}${body}`)).join(''))
  }
  await expect
    .poll(async () => {
      await hand.takeAll()
      return handlesOf(answers.text).length
    })
    .toBe(40)
})

test('a client that reads no answers is not read from, and gets all of them when it does', async () => {
  const { hand, socket, answers } = await opened()
  const headers = Array.from({ length: 900 }, (_none, at) => post('f', `job ${at}`)).join('')
  socket.pause()
  socket.write(headers)
  await hand.takeAll()
  socket.resume()
  await expect
    .poll(async () => {
      await hand.takeAll()
      return handlesOf(answers.text).length
    })
    .toBe(900)
})
