import { fstatSync, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { oneLine, systemCode } from '../../errors.ts'

const incomplete = 1

/** The streams of a program, and its end. */
type Program = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exit'>

/**
 * Ends a command whose output cannot be written: with 1 and one line, or without a word and with `unreadCode` if its reader,
 * such as `head`, has read enough. Standard error may be lost: it never ends a command. Returns how a gateway takes it back.
 */
export function guardOutput(program: Program, unreadCode: number): () => void {
  const { stderr } = program
  const stdout = wholeOutput(program)
  const onError = (error: Error): void => {
    if (systemCode(error) === 'EPIPE') program.exit(unreadCode)
    stderr.write(`The output is not complete (${oneLine(error)}).\n`)
    program.exit(incomplete)
  }
  stderr.on('error', () => undefined)
  stdout.on('error', onError)
  return () => {
    stdout.on('error', () => undefined)
    stdout.off('error', onError)
  }
}

/** Node takes it as success if a file takes a part of the bytes: standard output that is a file is written in whole. */
function wholeOutput(program: Program): NodeJS.WriteStream {
  const { stdout } = program
  const { fd } = stdout
  if (stdout.isTTY || !isFile(fd)) return stdout
  const whole = new Writable({
    decodeStrings: true,
    write(bytes: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
  const stream = Object.assign(whole, { fd, isTTY: false }) as unknown as NodeJS.WriteStream
  Object.defineProperty(program, 'stdout', { value: stream, configurable: true })
  return stream
}

/** A file or a device; pipes and sockets wait for their reader. */
function isFile(fd: number): boolean {
  const about = fstatSync(fd)
  return about.isFile() || about.isCharacterDevice()
}
