/**
 * True if a text matches a Redis glob: `*` any text, `?` any character, `[a-c]` and `[^a-c]` one of
 * a set, `\` escapes the next character. Takes at most text times pattern steps.
 */
export function matchesGlob(text: string, glob: string): boolean {
  const steps = compile(glob)
  let at = 0
  let step = 0
  let starStep = -1
  let starAt = 0
  while (at < text.length) {
    const current = steps[step]
    if (current === anyText) {
      starStep = step
      starAt = at
      step += 1
    } else if (current?.(text.charCodeAt(at))) {
      at += 1
      step += 1
    } else if (starStep >= 0) {
      starAt += 1
      at = starAt
      step = starStep + 1
    } else return false
  }
  while (steps[step] === anyText) step += 1
  return step === steps.length
}

type Step = (code: number) => boolean

const anyText: Step = () => true
const anyCharacter: Step = () => true

function compile(glob: string): Step[] {
  const steps: Step[] = []
  for (let at = 0; at < glob.length; at += 1) {
    const character = glob.charAt(at)
    if (character === '*') {
      if (steps.at(-1) !== anyText) steps.push(anyText)
    } else if (character === '?') steps.push(anyCharacter)
    else if (character === '[') {
      const end = setEnd(glob, at + 1)
      steps.push(oneOf(glob.slice(at + 1, end)))
      at = end
    } else {
      if (character === '\\' && at + 1 < glob.length) at += 1
      const code = glob.charCodeAt(at)
      steps.push((other) => other === code)
    }
  }
  return steps
}

/** The index of the `]` that ends a set, or the end of the text. */
function setEnd(glob: string, from: number): number {
  for (let at = from; at < glob.length; at += 1) {
    if (glob[at] === '\\') at += 1
    else if (glob[at] === ']') return at
  }
  return glob.length
}

function oneOf(set: string): Step {
  const isNot = set.startsWith('^')
  const ranges: (readonly [number, number])[] = []
  for (let at = isNot ? 1 : 0; at < set.length; at += 1) {
    if (set[at] === '\\' && at + 1 < set.length) at += 1
    const first = set.charCodeAt(at)
    if (set[at + 1] === '-' && at + 2 < set.length) {
      const last = set.charCodeAt(at + 2)
      ranges.push([Math.min(first, last), Math.max(first, last)])
      at += 2
    } else ranges.push([first, first])
  }
  return (code) => ranges.some(([first, last]) => code >= first && code <= last) !== isNot
}
