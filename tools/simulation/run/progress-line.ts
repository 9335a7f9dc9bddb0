/** Least time between two lines, milliseconds. */
const everyMs = 200

/** A line that is written over and over on a terminal, and nowhere else. */
export function progressLine(stream: NodeJS.WriteStream = process.stdout) {
  let shownMs = 0
  let isShown = false
  return {
    show(line: string): void {
      const nowMs = performance.now()
      if (!stream.isTTY || nowMs - shownMs < everyMs) return
      shownMs = nowMs
      isShown = true
      stream.write(`\r${line}\u001b[K`)
    },
    clear(): void {
      if (isShown) stream.write('\r\u001b[K')
      isShown = false
    },
  }
}
