import { expect } from 'vitest'
import { lacking } from '../support/differences.ts'
import type { Transcript } from '../support/play.ts'
import { httpImprovements } from './improvements.ts'

/** Expects answers to a case to differ where Crossgear does better, and only there. */
export function expectKnown(
  { name }: { readonly name: string },
  gearmand: Transcript,
  crossgear: Transcript,
): void {
  const known = httpImprovements[name]
  expect({
    gearmand: lacking(gearmand, crossgear),
    crossgear: lacking(crossgear, gearmand),
  }).toEqual({ gearmand: known?.gearmand ?? [], crossgear: known?.crossgear ?? [] })
}
