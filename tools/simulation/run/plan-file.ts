import { readFileSync, writeFileSync } from 'node:fs'
import { changeKinds, faultKinds, peerKinds, type Plan } from '../world/plan.ts'

const maxFileBytes = 1024 * 1024
const maxParts = 1_000
const maxTimeMs = 3_600_000

/** Saves a plan, with its problem for those who read it. */
export function savePlan(file: string, plan: Plan, problem: string): void {
  writeFileSync(file, `${JSON.stringify({ problem, plan }, undefined, 2)}\n`)
}

/**
 * Reads a plan that was saved.
 *
 * @throws Error with one line, if it is none
 */
export function readPlan(file: string): Plan {
  let value: unknown
  try {
    const text = readFileSync(file, 'utf8')
    if (text.length > maxFileBytes) throw new Error('it is longer than a plan')
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`The plan ${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
  const plan = (value as { plan?: unknown } | null)?.plan ?? value
  const wrong = wrongIn(plan, planFields, 'plan')
  if (wrong !== undefined) throw new Error(`${file} has no plan: ${wrong}`)
  return plan as Plan
}

/** Tells why a value does not fit; nothing if it does. */
type Check = (value: unknown, path: string) => string | undefined

const whole =
  (min: number, max: number): Check =>
  (value, path) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
      ? undefined
      : `${path} is a whole number from ${min} to ${max}`

const oneOf =
  (known: readonly unknown[]): Check =>
  (value, path) =>
    known.includes(value) ? undefined : `${path} is one of ${known.join(', ')}`

const listOf =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (!Array.isArray(value) || value.length > maxParts)
      return `${path} is a list of at most ${maxParts}`
    for (const [at, part] of value.entries()) {
      const wrong = wrongIn(part, fields, `${path}[${at}]`)
      if (wrong !== undefined) return wrong
    }
    return undefined
  }

const name: Check = (value, path) =>
  typeof value === 'string' && /^[a-z]+\d+$/.test(value)
    ? undefined
    : `${path} is letters and a number`

const planFields: Readonly<Record<keyof Plan, Check>> = {
  seed: whole(0, 2 ** 32 - 1),
  gateways: whole(1, 10),
  peers: listOf({ name, kind: oneOf(peerKinds), jobs: whole(0, maxParts) }),
  faults: listOf({
    number: whole(1, maxParts),
    kind: oneOf(faultKinds),
    atMs: whole(0, maxTimeMs),
    forMs: whole(0, maxTimeMs),
  }),
  changes: listOf({
    number: whole(1, maxParts),
    kind: oneOf(changeKinds),
    atMs: whole(0, maxTimeMs),
    forMs: whole(0, maxTimeMs),
  }),
  hasThrottles: oneOf([true, false]),
  hasRoutes: oneOf([true, false]),
  hasCron: oneOf([true, false]),
  waitsForReplica: oneOf([true, false]),
  functionOrder: oneOf(['in-order', 'by-level']),
  wildMs: whole(0, maxTimeMs),
}

function wrongIn(
  value: unknown,
  fields: Readonly<Record<string, Check>>,
  path: string,
): string | undefined {
  if (typeof value !== 'object' || value === null) return `${path} is no object`
  for (const [field, check] of Object.entries(fields)) {
    const wrong = check((value as Record<string, unknown>)[field], `${path}.${field}`)
    if (wrong !== undefined) return wrong
  }
  return undefined
}
