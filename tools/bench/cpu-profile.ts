/** The fields used of a .cpuprofile, the format of Chrome's DevTools. Times are in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: {
      readonly functionName: string
      readonly url: string
      /** From 0. */
      readonly lineNumber: number
    }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

export interface SelfTime {
  readonly name: string
  readonly place: string
  readonly microseconds: number
  /** Share of all time in which the process was not idle, 0 to 1. */
  readonly share: number
}

const idle = new Set(['(idle)', '(program)', '(root)'])

/** Self time of each function, the largest first. */
export function selfTimes(profile: CpuProfile): readonly SelfTime[] {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
  const times = new Map<string, { name: string; place: string; microseconds: number }>()
  for (const [index, id] of profile.samples.entries()) {
    const frame = frames.get(id)
    if (frame === undefined || idle.has(frame.functionName)) continue
    const place = placeOf(frame.url, frame.lineNumber)
    const name = frame.functionName === '' ? '(anonymous)' : frame.functionName
    const entry = times.get(`${name} ${place}`) ?? { name, place, microseconds: 0 }
    entry.microseconds += profile.timeDeltas[index] ?? 0
    times.set(`${name} ${place}`, entry)
  }
  const entries = [...times.values()].sort((a, b) => b.microseconds - a.microseconds)
  const total = entries.reduce((sum, { microseconds }) => sum + microseconds, 0)
  return entries.map((entry) => ({ ...entry, share: entry.microseconds / total }))
}

/** `packages/core-scheduler/dist/claims.js:12` of a URL; undefined for V8's own code. */
function placeOf(url: string, lineNumber: number): string {
  if (url === '') return ''
  const path = url.replace(/^.*\/(?=(apps|packages|node_modules)\/)/, '')
  return `${path}:${lineNumber + 1}`
}

/** A table of the first `count`. */
export function formatSelfTimes(times: readonly SelfTime[], count: number): string {
  return times
    .slice(0, count)
    .map(({ name, place, microseconds, share }) => {
      const percent = `${(share * 100).toFixed(1)} %`
      const milliseconds = `${Math.round(microseconds / 1000)} ms`
      return `${percent.padStart(7)} ${milliseconds.padStart(9)}  ${name.padEnd(36)} ${place}`
    })
    .join('\n')
}
