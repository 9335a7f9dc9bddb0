import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let folder: string | undefined

/** Builds a program of ours on libgearman, once for this test file. */
export function compiled(source: string, name: string): string {
  const made = (folder ??= newFolder())
  const program = join(made, name)
  const flags = ['-std=gnu11', '-Wall', '-Wextra', '-Wno-unused-function', '-O1']
  execFileSync('cc', [...flags, '-o', program, source, '-lgearman'], { stdio: 'inherit' })
  return program
}

function newFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'crossgear-stock-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  return made
}
