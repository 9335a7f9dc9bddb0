import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Expected, RecordedCase, Step } from './recording.ts'
import { ReplyReader } from './reply-reader.ts'
import { Tokens } from './tokens.ts'

const millisPerSecond = 1_000

/** A reply that differs from the recorded one. */
export interface Difference {
  readonly step: number
  readonly faktory: string
  readonly crossgear: string
}

/** Plays a case on a fresh server; returns the replies that differ, in order. */
export async function play(
  { steps, server }: RecordedCase,
  port: number,
  patienceMs: number,
): Promise<readonly Difference[]> {
  const tokens = new Tokens(server?.password)
  const differences: Difference[] = []
  const cast = new Map<string, ReplyReader>()
  try {
    for (const [step, action] of steps.entries()) {
      if (action.wait !== undefined) await delay(action.wait * millisPerSecond)
      if (action.on === undefined) continue
      const known = cast.get(action.on)
      const actor = known ?? (await ReplyReader.connect(port))
      cast.set(action.on, actor)
      await act(action, actor, tokens)
      for (const recorded of action.expect ?? []) {
        const reply = await actor.next(patienceMs)
        const expected = infoFields(recorded, tokens, reply)
        if (agrees(expected, reply, tokens)) continue
        differences.push(differenceOf(step, expected, reply))
      }
    }
    for (const actor of cast.values()) {
      const more = await surplus(actor, patienceMs)
      if (more !== undefined) {
        differences.push({ step: steps.length, faktory: 'nothing more', crossgear: more })
      }
    }
    return differences
  } finally {
    for (const actor of cast.values()) actor.close()
  }
}

async function act(step: Step, actor: ReplyReader, tokens: Tokens): Promise<void> {
  if (step.hello) {
    await actor.next(millisPerSecond * 40)
    actor.send(tokens.filled(`HELLO ${JSON.stringify(step.hello)}`, actor.hi))
    const answer = await actor.next(millisPerSecond * 40)
    if (answer !== '+OK') throw new Error(`HELLO was answered ${answer}`)
  }
  if (step.send !== undefined) actor.send(tokens.filled(step.send, actor.hi))
  if (step.write !== undefined) {
    const bytes = Buffer.from(tokens.filled(step.write, actor.hi), 'latin1')
    if (step.slowly) for (const byte of bytes) await actor.write(Buffer.of(byte))
    else await actor.write(bytes)
  }
  if (step.end) actor.end()
  if (step.close) actor.close()
}

/** A reply that nobody expected: without one an unknown verb is answered next. */
async function surplus(actor: ReplyReader, patienceMs: number): Promise<string | undefined> {
  if (!actor.isOpen) return undefined
  actor.send('NOVERB')
  const reply = await actor.next(patienceMs)
  return reply === '-ERR unknown command NOVERB' ? undefined : steady(reply)
}

function differenceOf(step: number, expected: Expected, reply: string): Difference {
  if (typeof expected === 'string') return { step, faktory: expected, crossgear: steady(reply) }
  const body = parsed(reply)
  const wrong = Object.entries(expected.fields).filter(([path, value]) => {
    return !isDeepStrictEqual(at(body, path), value)
  })
  const given = wrong.map(([path]): [string, unknown] => [path, at(body, path)])
  const faktory = JSON.stringify(Object.fromEntries(wrong))
  return { step, faktory, crossgear: JSON.stringify(Object.fromEntries(given)) }
}

/** A reply without what differs from run to run. */
function steady(reply: string): string {
  return reply
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
    .replace(/^\$ (?:b-)?[\w-]{16}$/, '$ <bid>')
    .replace(/^(\$ \{"default":)[\d.]+\}$/, '$1<seconds>}')
    .replaceAll(
      /(.)\1{40,}/gsu,
      (run: string, letter: string) => `<${letter}*${run.length / letter.length}>`,
    )
}

/** A complete INFO as the fields to compare: there may be further ones, and tokens that match are filled in. */
function infoFields(expected: Expected, tokens: Tokens, reply: string): Expected {
  if (typeof expected !== 'string' || !expected.startsWith('$ {"now"')) return expected
  const [wanted, given] = [leaves(parsed(expected)), leaves(parsed(reply))]
  const fields = [...wanted].map(([path, value]): [string, unknown] => {
    const found = given.get(path)
    const matches = tokens.matches(JSON.stringify(value), JSON.stringify(found ?? null))
    return [path, matches || tokens.matches(String(value), String(found)) ? found : value]
  })
  return { fields: Object.fromEntries(fields) }
}

function leaves(value: unknown, path = '', found = new Map<string, unknown>()) {
  if (!isObject(value)) return found.set(path, value)
  const entries = Object.entries(value)
  if (entries.length === 0) return found.set(path, value)
  for (const [name, inner] of entries) leaves(inner, path === '' ? name : `${path}.${name}`, found)
  return found
}

function agrees(expected: Expected, reply: string, tokens: Tokens): boolean {
  if (typeof expected !== 'string') {
    const body = parsed(reply)
    return Object.entries(expected.fields).every(([path, value]) => {
      return isDeepStrictEqual(at(body, path), value)
    })
  }
  if (tokens.matches(expected, reply)) return true
  const [wanted, given] = [expected, reply].map((text) => normal(text))
  return wanted !== undefined && given !== undefined && tokens.matches(wanted, given)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A bulk string of JSON in one spelling: order of keys and escapes need not be the same. */
function normal(reply: string): string | undefined {
  const body = parsed(reply)
  return body === undefined ? undefined : `$ ${JSON.stringify(sorted(body))}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}

function parsed(reply: string): unknown {
  if (!reply.startsWith('$ ')) return undefined
  try {
    return JSON.parse(reply.slice(2))
  } catch {
    return undefined
  }
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => {
    return typeof inner === 'object' && inner !== null
      ? (inner as Record<string, unknown>)[key]
      : undefined
  }, value)
}
