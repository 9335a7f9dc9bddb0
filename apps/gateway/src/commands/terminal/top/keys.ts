import { sortNames, type Shown } from './view.ts'

/** The state of the live table that keys change. */
export interface TopState extends Shown {
  /** A part of the functions' names. */
  readonly filter: string
  /** The filter while it is typed. */
  readonly typed: string | undefined
  /** The first row that is shown. */
  readonly from: number
  readonly hasEnded: boolean
}

/** Rows that a screen has, and rows that there are. */
interface Room {
  readonly screen: number
  readonly rows: number
}

type Key = (state: TopState, room: Room) => Partial<TopState>

const scroll =
  (by: (room: Room) => number): Key =>
  ({ from }, room) => ({
    from: Math.min(Math.max(0, from + by(room)), Math.max(0, room.rows - room.screen)),
  })

const sortBy =
  (step: number): Key =>
  ({ sort }) => {
    const at = (sortNames.indexOf(sort) + step + sortNames.length) % sortNames.length
    return { sort: sortNames[at] ?? sort, from: 0 }
  }

const end: Key = () => ({ hasEnded: true })

const keys: Readonly<Record<string, Key>> = {
  q: end,
  '\u0003': end,
  s: sortBy(1),
  r: ({ isReversed }) => ({ isReversed: !isReversed }),
  '/': ({ filter }) => ({ typed: filter }),
  k: scroll(() => -1),
  j: scroll(() => 1),
  '\u001b[A': scroll(() => -1),
  '\u001b[B': scroll(() => 1),
  '\u001b[C': sortBy(1),
  '\u001b[D': sortBy(-1),
  '\u001b[5~': scroll(({ screen }) => -screen),
  '\u001b[6~': scroll(({ screen }) => screen),
}

const whileTyping: Readonly<Record<string, Key>> = {
  '\r': ({ typed = '' }) => ({ filter: typed, typed: undefined, from: 0 }),
  '\n': ({ typed = '' }) => ({ filter: typed, typed: undefined, from: 0 }),
  '\u001b': () => ({ typed: undefined }),
  '\u007f': ({ typed = '' }) => ({ typed: withoutLast(typed) }),
  '\b': ({ typed = '' }) => ({ typed: withoutLast(typed) }),
  '\u0003': end,
}

function withoutLast(text: string): string {
  return Array.from(text).slice(0, -1).join('')
}

/** The API takes no longer part of a name. */
const longestFilter = 255

/** The keys in a piece of input: escape sequences and characters. */
const keyForm = /\u001b\[[0-9;]*[A-Za-z~]|\u001bO[A-Z]|[^]/gu

/** The state after the keys of a piece of input. */
export function afterKeys(state: TopState, input: string, room: Room): TopState {
  let current = state
  for (const [raw] of input.matchAll(keyForm)) {
    const key = raw.replace('\u001bO', '\u001b[')
    const change =
      current.typed === undefined ? keys[key]?.(current, room) : typing(current, key, room)
    current = { ...current, ...change }
  }
  return current
}

function typing(state: TopState, key: string, room: Room): Partial<TopState> | undefined {
  const known = whileTyping[key]
  if (known) return known(state, room)
  const { typed = '' } = state
  const isText = !key.startsWith('\u001b') && !/\p{Cc}/u.test(key)
  return isText && typed.length < longestFilter ? { typed: typed + key } : undefined
}
