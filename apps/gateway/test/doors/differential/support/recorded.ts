import { readFileSync } from 'node:fs'
import { playsAll } from '@crossgear/tools/sample'
import type { GearmandVersion } from '../../../../src/doors/gearman/gearmand-version.ts'
import { lacksGearmand } from './gearmand.ts'
import type { Transcript } from './play.ts'

interface Recorded {
  readonly transcript: Transcript
}

type RecordedCases = Readonly<Record<string, Recorded>>

interface Recording {
  readonly cases: RecordedCases
  readonly http: RecordedCases
}

/** A commit plays one case in so many; a night plays all. */
export const partsByDay = 8

/** gearmand 2.0 gives the answers of 1.1 to all cases but these. */
interface Differing {
  readonly cases: RecordedCases
  /** Cases that came after the recording. */
  readonly notRecorded: readonly string[]
}

function read(file: string): unknown {
  const url = new URL(`../recordings/${file}`, import.meta.url)
  return JSON.parse(readFileSync(url, 'utf8'))
}

/** The cases to which gearmand 2.0 gives other answers than 1.1. */
export function differingIn20(): Differing {
  return read('gearmand-2.0-differences.json') as Differing
}

/** The answers of gearmand of this version, by the names of the cases. */
export function recordingOf(version: GearmandVersion): Recording {
  const recording = read('gearmand-1.1.20.json') as Recording
  if (version === '1.1') return recording
  const { cases, notRecorded } = differingIn20()
  const all = Object.entries({ ...recording.cases, ...cases })
  const recorded = all.filter(([name]) => !notRecorded.includes(name))
  return { ...recording, cases: Object.fromEntries(recorded) }
}

/** The recording that takes gearmand's place: by day, and where it is not installed. */
export function recordingByDay(): Recording | undefined {
  return playsAll() && !lacksGearmand ? undefined : recordingOf('1.1')
}

/** The answers to each script: those of the recording, if there is one, or else of one play. */
export function answersTo<Script extends { readonly name: string }>(
  recording: RecordedCases | undefined,
  play: (script: Script) => Promise<Transcript>,
): (script: Script) => Promise<Transcript> {
  const answers = new Map<Script, Promise<Transcript>>()
  return (script) => {
    const recorded = recording?.[script.name]?.transcript
    const answer = answers.get(script) ?? (recorded ? Promise.resolve(recorded) : play(script))
    answers.set(script, answer)
    return answer
  }
}
