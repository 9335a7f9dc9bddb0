import { readArgument, refused } from './argument.ts'
import { readInteger, readString } from './raw-values.ts'

/** `BEAT {"wid", "rss_kb", "current_state"}` */
export interface Beat {
  readonly wid: string
  /** The worker's resident memory in KiB. */
  readonly rssKb?: number
  /** What the worker says of itself, `quiet` or `terminate` among others; never empty. */
  readonly currentState?: string
}

const FAILURE = { code: 'INVALID_BEAT', text: 'invalid BEAT', echoes: true } as const

/** The argument of BEAT. Throws `INVALID_BEAT`. */
export function parseBeat(argument: Buffer): Beat {
  return readArgument(argument, FAILURE, (fields) => {
    const wid = readString('wid', fields.get('wid')) ?? ''
    const rssKb = readInteger('rss_kb', fields.get('rss_kb'))
    const currentState = readString('current_state', fields.get('current_state')) ?? ''
    if (wid === '') throw refused('wid is missing')
    return {
      wid,
      ...(rssKb === undefined ? {} : { rssKb }),
      ...(currentState === '' ? {} : { currentState }),
    }
  })
}
