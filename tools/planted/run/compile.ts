import { spawnSync } from 'node:child_process'
import { extname, join } from 'node:path'
import { readFileSync } from 'node:fs'
import type { CheckoutCopy } from './checkout-copy.ts'
import { runProgram } from './program.ts'

/** Codes of the compiler for names that nothing uses, which a fault may leave, and for outputs that are missing by them. */
const unused = /error TS(?:6133|6192|6196|6198|6199|6205|6305):/

type Check = (copy: CheckoutCopy, file: string, stop: AbortSignal) => Promise<string | undefined>

const checks: Readonly<Record<string, Check>> = {
  '.ts': async (copy, _file, signal) => {
    const { root, temporaryFolder } = copy
    const compiler = join(root, 'node_modules/@typescript/native-compiler/bin/tsc')
    const words = [compiler, '-b', 'tsconfig.build.json', '--pretty', 'false']
    const { output } = await runProgram(words, { folder: root, temporaryFolder, signal })
    signal.throwIfAborted()
    return output.split('\n').find((line) => /error TS\d+:/.test(line) && !unused.test(line))
  },
  '.lua': async (copy, file) => {
    const input = readFileSync(join(copy.root, file))
    const formatter = join(copy.root, 'node_modules/.bin/stylua')
    const { status, stderr } = spawnSync(formatter, ['-'], { input, encoding: 'utf8' })
    return status === 0 ? undefined : stderr.trim().replaceAll('\n', ' ')
  },
}

/** The first error of a changed file that is none of behaviour; nothing if it has none. */
export async function compileError(
  copy: CheckoutCopy,
  file: string,
  stop: AbortSignal,
): Promise<string | undefined> {
  return await checks[extname(file)]?.(copy, file, stop)
}
