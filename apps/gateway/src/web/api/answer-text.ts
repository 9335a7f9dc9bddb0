import { setImmediate as nextTurn } from 'node:timers/promises'

/** Entries of a list that are written at a time, about half a millisecond's work. */
const entriesPerTurn = 64

/** The JSON of an answer and a line feed; lists in it are written in pieces, and other work passes in between. */
export async function answerText(body: unknown): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of piecesOf(body)) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

async function* piecesOf(body: unknown): AsyncGenerator<string> {
  if (!hasLongList(body)) {
    yield `${JSON.stringify(body)}\n`
    return
  }
  let before = '{'
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    before += `${JSON.stringify(name)}:`
    if (isLong(value)) {
      yield `${before}[`
      yield* entriesOf(value)
      before = ']'
    } else before += JSON.stringify(value)
    before += ','
  }
  yield `${before.slice(0, -1)}}\n`
}

async function* entriesOf(list: readonly unknown[]): AsyncGenerator<string> {
  for (let at = 0; at < list.length; at += entriesPerTurn) {
    if (at > 0) await nextTurn()
    const some = JSON.stringify(list.slice(at, at + entriesPerTurn)).slice(1, -1)
    yield at === 0 ? some : `,${some}`
  }
}

function hasLongList(body: unknown): body is object {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  return Object.values(body).some(isLong)
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > entriesPerTurn
}
