import type { Transcript } from './play.ts'

/** Everything that two servers said differently, by connection and step. */
export interface Differences {
  readonly gearmand: Transcript
  readonly crossgear: Transcript
}

/** The steps and connections at which the transcripts differ. */
export function differences(gearmand: Transcript, crossgear: Transcript): Differences {
  const [one, other] = [byPlace(gearmand), byPlace(crossgear)]
  const differing = new Set(
    [...one.keys(), ...other.keys()].filter(
      (place) => one.get(place)?.join('\n') !== other.get(place)?.join('\n'),
    ),
  )
  return {
    gearmand: gearmand.filter((line) => differing.has(placeOf(line))),
    crossgear: crossgear.filter((line) => differing.has(placeOf(line))),
  }
}

/** The transcript expected of Crossgear where gearmand gave this one. */
export function improved(gearmand: Transcript, known: Differences | undefined): Transcript {
  if (!known) return gearmand
  const changed = new Set([...known.gearmand, ...known.crossgear].map((line) => placeOf(line)))
  return [...gearmand.filter((line) => !changed.has(placeOf(line))), ...known.crossgear]
}

/** `3 worker NOOP` was heard at `3 worker`. */
function placeOf(line: string): string {
  return line.split(' ', 2).join(' ')
}

function byPlace(transcript: Transcript): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>()
  for (const line of transcript) {
    const place = placeOf(line)
    const lines = places.get(place)
    if (lines) lines.push(line)
    else places.set(place, [line])
  }
  return places
}

/** The lines that the other has not, however often each of them comes. */
export function lacking(lines: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other]
  return lines.filter((line) => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
