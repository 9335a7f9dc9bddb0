import { readFileSync } from 'node:fs'

/** A reply as text, or values of a JSON reply by their paths; see README.md of the recordings. */
export type Expected = string | { readonly fields: Readonly<Record<string, unknown>> }

/** One step of a case: what is done on a connection, or the replies that it gets next. */
export interface Step {
  readonly on?: string
  readonly open?: true
  readonly hello?: Readonly<Record<string, unknown>>
  readonly send?: string
  readonly write?: string
  readonly slowly?: true
  readonly expect?: readonly Expected[]
  readonly end?: true
  readonly close?: true
  /** Seconds. */
  readonly wait?: number
}

export interface RecordedCase {
  readonly case: string
  readonly server?: { readonly password?: string }
  /** Seconds that the case takes because a clock of the server has to run. */
  readonly slow?: number
  readonly steps: readonly Step[]
}

/** Faktory 1.10.0's answers, case by case. */
export function recordedCases(): readonly RecordedCase[] {
  const url = new URL('../recordings/faktory-1.10.0.jsonl', import.meta.url)
  const lines = readFileSync(url, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as RecordedCase)
}
