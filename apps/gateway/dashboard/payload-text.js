/** Parts of JSON: strings, marks, and words between them. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Deeper JSON is shown as text, as to Faktory workers. */
const deepest = 512
/** Deeper levels are indented like this one: a line would be mostly indentation. */
const deepestIndented = 32

/**
 * Indents the text of a JSON value without reading its numbers: none loses a digit. Undefined for what is no
 * JSON object or array, or nests too deep.
 *
 * @param {string} text
 * @returns {string | undefined}
 */
export function indented(text) {
  if (!/^\s*[{[]/.test(text) || !isJson(text)) return undefined
  const lines = []
  let [line, depth] = ['', 0]
  const end = () => {
    lines.push(line)
    line = '  '.repeat(Math.min(Math.max(0, depth), deepestIndented))
  }
  /** @type {string} */
  let before = ''
  for (const [part] of text.matchAll(token)) {
    if (part === '}' || part === ']') {
      depth -= 1
      const isEmpty = before === '{' || before === '['
      if (isEmpty) line = line.trimEnd()
      else end()
      line += part
    } else {
      if (before === '{' || before === '[' || before === ',') end()
      line += part === ':' ? ': ' : part
      if (part === '{' || part === '[') depth += 1
      if (depth > deepest) return undefined
    }
    before = part
  }
  lines.push(line)
  return lines.join('\n')
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const bytesPerLine = 16

/**
 * Hexadecimal digits as a dump: offset, bytes, and what of them is ASCII.
 *
 * @param {string} digits two for each byte
 */
export function dumped(digits) {
  const lines = []
  for (let at = 0; at < digits.length; at += 2 * bytesPerLine) {
    const pairs = digits.slice(at, at + 2 * bytesPerLine).match(/../g) ?? []
    const offset = (at / 2).toString(16).padStart(8, '0')
    const halves = [pairs.slice(0, 8).join(' '), pairs.slice(8).join(' ')]
    const ascii = pairs.map((pair) => printable(Number.parseInt(pair, 16))).join('')
    lines.push(`${offset}  ${halves.join('  ').padEnd(48)}  ${ascii}`)
  }
  return lines.join('\n')
}

/** @param {number} byte */
function printable(byte) {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.'
}

/** Marks that turn the direction of text, or cannot be seen, and could hide what a text says. */
const unseenMark =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/**
 * The text with such marks made visible.
 *
 * @param {string} text
 */
export function visible(text) {
  return text.replace(unseenMark, (mark) => {
    const code = mark.codePointAt(0) ?? 0
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}
