/**
 * A Redis glob, which no library has in pieces: `*`, `?`, `[a-c]`, `[^a-c]`, and `\` escapes the next character. Any match
 * takes at most a step for each character and 32 places of the pattern: a word has as many bits.
 */
export class Glob {
  readonly #head: Segment
  /** Between stars. */
  readonly #middle: readonly Segment[]
  /** After the last star; undefined without a star. */
  readonly #tail: Segment | undefined

  constructor(pattern: string) {
    const [head = [], ...others] = compile(pattern)
    const tail = others.pop()
    this.#head = new Segment(head)
    this.#middle = others.filter(({ length }) => length > 0).map((tests) => new Segment(tests))
    this.#tail = tail && new Segment(tail)
  }

  /** A match with a text, to be worked on in pieces. */
  match(text: string): GlobMatch {
    return new GlobMatch(text, this.#head, this.#middle, this.#tail)
  }
}

/** The match of a text with a glob, as far as it has come. */
export class GlobMatch {
  /** Steps taken so far: one a character and 32 places of the pattern. */
  steps = 0
  readonly #text: string
  readonly #middle: readonly Segment[]
  readonly #end: number
  #at: number
  /** Index of the segment that is searched, and how much of it the last characters are. */
  #segment = 0
  #state: Int32Array
  #result: boolean | undefined

  constructor(text: string, head: Segment, middle: readonly Segment[], tail: Segment | undefined) {
    const tailLength = tail?.length ?? 0
    this.#text = text
    this.#middle = middle
    this.#at = head.length
    this.#end = text.length - tailLength
    this.#state = new Int32Array(middle[0]?.words ?? 0)
    this.steps += head.length + tailLength
    const fits = tail ? this.#at <= this.#end : this.#at === this.#end
    const endsFit = fits && head.isAt(text, 0) && (tail?.isAt(text, this.#end) ?? true)
    if (!endsFit) this.#result = false
    else if (middle.length === 0) this.#result = true
  }

  /** Goes on for some `maxSteps` steps. Undefined: it is not known yet. */
  run(maxSteps: number): boolean | undefined {
    const until = this.steps + maxSteps
    while (this.#result === undefined && this.steps < until) {
      this.#search(this.#middle[this.#segment] as Segment, until)
    }
    return this.#result
  }

  /** Looks for a segment until it is found, the steps are spent or the text ends. */
  #search(segment: Segment, until: number): void {
    const { words } = segment
    const state = this.#state
    while (this.steps < until) {
      if (this.#at >= this.#end) {
        this.#result = false
        return
      }
      const isFound = segment.advance(state, this.#text.charCodeAt(this.#at))
      this.#at += 1
      this.steps += words
      if (!isFound) continue
      this.#segment += 1
      const next = this.#middle[this.#segment]
      if (next) this.#state = new Int32Array(next.words)
      else this.#result = true
      return
    }
  }
}

/** First and last code of the characters at a place of the pattern, in pairs. */
type Test = readonly number[]

const bitsPerWord = 32
const codes = 0x10000
const anyCharacter: Test = [0, codes - 1]

/** A part of the pattern without a star: a test for each character. */
class Segment {
  readonly length: number
  readonly words: number
  /** Codes at which the set of fitting tests changes, in order. */
  readonly #starts: Int32Array
  /** For each of them a bit for each test. */
  readonly #masks: Int32Array
  /** The range of each of the first 128 codes. */
  readonly #ranges = new Int32Array(128)

  constructor(tests: readonly Test[]) {
    this.length = tests.length
    this.words = Math.ceil(tests.length / bitsPerWord)
    const edges = tests.flatMap((test) => test.map((code, at) => (at % 2 === 0 ? code : code + 1)))
    const starts = [...new Set([0, ...edges])].filter((code) => code < codes)
    this.#starts = Int32Array.from(starts.sort((one, other) => one - other))
    this.#masks = new Int32Array(this.#starts.length * this.words)
    for (let code = 0; code < this.#ranges.length; code += 1) {
      this.#ranges[code] = this.#findRange(code)
    }
    for (const [place, test] of tests.entries()) {
      for (let at = 0; at < test.length; at += 2) {
        this.#allow(place, test[at] ?? 0, test[at + 1] ?? 0)
      }
    }
  }

  /** True if the text has it at a place. */
  isAt(text: string, at: number): boolean {
    for (let place = 0; place < this.length; place += 1) {
      const word = this.#rangeOf(text.charCodeAt(at + place)) * this.words + (place >> 5)
      if (((this.#masks[word] ?? 0) & (1 << (place & 31))) === 0) return false
    }
    return true
  }

  /**
   * Takes a character: bit n of the state says that the last n + 1 characters are the first of the segment. True if the
   * last ones are the whole.
   */
  advance(state: Int32Array, code: number): boolean {
    const first = this.#rangeOf(code) * this.words
    let carry = 1
    for (let word = 0; word < this.words; word += 1) {
      const before = state[word] ?? 0
      state[word] = ((before << 1) | carry) & (this.#masks[first + word] ?? 0)
      carry = before >>> 31
    }
    const last = this.length - 1
    return ((state[last >> 5] ?? 0) & (1 << (last & 31))) !== 0
  }

  #allow(place: number, from: number, to: number): void {
    for (let range = this.#findRange(from); range < this.#starts.length; range += 1) {
      if ((this.#starts[range] ?? codes) > to) return
      const word = range * this.words + (place >> 5)
      this.#masks[word] = (this.#masks[word] ?? 0) | (1 << (place & 31))
    }
  }

  #rangeOf(code: number): number {
    return this.#ranges[code] ?? this.#findRange(code)
  }

  /** The last range that starts at the code or before. */
  #findRange(code: number): number {
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#starts[middle] ?? 0) <= code) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** The tests between the stars of a pattern. */
function compile(glob: string): Test[][] {
  let tests: Test[] = []
  const segments = [tests]
  for (let at = 0; at < glob.length; at += 1) {
    const character = glob.charAt(at)
    if (character === '*') {
      tests = []
      segments.push(tests)
    } else if (character === '?') tests.push(anyCharacter)
    else if (character === '[') {
      const end = setEnd(glob, at + 1)
      tests.push(oneOf(glob.slice(at + 1, end)))
      at = end
    } else {
      if (character === '\\' && at + 1 < glob.length) at += 1
      const code = glob.charCodeAt(at)
      tests.push([code, code])
    }
  }
  return segments
}

/** The index of the `]` that ends a set, or the end of the text. */
function setEnd(glob: string, from: number): number {
  for (let at = from; at < glob.length; at += 1) {
    if (glob[at] === '\\') at += 1
    else if (glob[at] === ']') return at
  }
  return glob.length
}

function oneOf(set: string): Test {
  const isNot = set.startsWith('^')
  const ranges: [number, number][] = []
  for (let at = isNot ? 1 : 0; at < set.length; at += 1) {
    if (set[at] === '\\' && at + 1 < set.length) at += 1
    const first = set.charCodeAt(at)
    if (set[at + 1] === '-' && at + 2 < set.length) {
      const last = set.charCodeAt(at + 2)
      ranges.push([Math.min(first, last), Math.max(first, last)])
      at += 2
    } else ranges.push([first, first])
  }
  return isNot ? othersThan(ranges) : ranges.flat()
}

/** The ranges of all codes that are in none of these. */
function othersThan(ranges: [number, number][]): Test {
  const others: number[] = []
  let from = 0
  for (const [first, last] of ranges.sort(([one], [other]) => one - other)) {
    if (first > from) others.push(from, first - 1)
    from = Math.max(from, last + 1)
  }
  if (from < codes) others.push(from, codes - 1)
  return others
}
