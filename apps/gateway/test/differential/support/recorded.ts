import { readFileSync } from 'node:fs'
import type { GearmandVersion } from '../../../src/gearman/gearmand-version.ts'
import type { Transcript } from './play.ts'

interface Recorded {
  readonly transcript: Transcript
}

interface Recording {
  readonly cases: Readonly<Record<string, Recorded>>
  readonly http: Readonly<Record<string, Recorded>>
}

const files: Readonly<Record<GearmandVersion, string>> = {
  '1.1': 'gearmand-1.1.20.json',
  '2.0': 'gearmand-2.0.0-51-ge4f600b6.json',
}

/** The answers of gearmand of this version, by the names of the cases. */
export function recordingOf(version: GearmandVersion): Recording {
  const url = new URL(`../recordings/${files[version]}`, import.meta.url)
  return JSON.parse(readFileSync(url, 'utf8')) as Recording
}

/** The answers to each script: those of the recording, if there is one, or else of one play. */
export function answersTo<Script extends { readonly name: string }>(
  recording: Readonly<Record<string, Recorded>> | undefined,
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
