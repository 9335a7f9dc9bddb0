import { execFileSync } from 'node:child_process'
import { lutimesSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The time that all of a release bears, so that one commit always makes the same bytes: SOURCE_DATE_EPOCH, else that
 * of the commit.
 */
export function sourceDate(root: string): Date {
  const given = process.env['SOURCE_DATE_EPOCH']
  const words = ['log', '-1', '--format=%ct']
  const seconds = given ?? execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
  if (!/^\d{1,12}$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH is ${seconds}: give seconds`)
  return new Date(Number(seconds) * 1000)
}

/** Every file and folder below a folder, and itself. */
export function everythingIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return [...names.map((name) => join(folder, name)), folder]
}

/** Gives all of a folder one time. */
export function setTimes(folder: string, date: Date): void {
  for (const path of everythingIn(folder)) lutimesSync(path, date, date)
}
