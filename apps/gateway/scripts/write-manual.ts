// `tsx scripts/write-manual.ts FOLDER YYYY-MM-DD [KEY=VALUE ...]`: writes crossgear.1, crossgear.toml.5, completions
// (crossgear.bash and so on) and crossgear.toml, in which the given settings have these values.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandTable } from '../src/commands/command-table.ts'
import { shells } from '../src/commands/completion/names.ts'
import { completionScript } from '../src/commands/completion/run-completion.ts'
import { readVersion } from '../src/commands/cli/version.ts'
import { keyOf, optionNames } from '../src/config/options.ts'
import { exampleFile, type Preset } from './manual/example-file.ts'
import { commandPage, filePage } from './manual/man-pages.ts'

function presetOf(words: readonly string[]): Preset {
  const pairs = words.map((word) => {
    const [key = '', value = ''] = word.split('=', 2)
    const name = optionNames.find((one) => keyOf(one) === key)
    if (name === undefined) throw new Error(`there is no setting ${key}`)
    return [name, value] as const
  })
  return Object.fromEntries(pairs)
}

const [folder = '.', date = '', ...given] = process.argv.slice(2)
const release = { version: readVersion(), date }
mkdirSync(folder, { recursive: true })
const files = {
  ...Object.fromEntries(shells.map((shell) => [`crossgear.${shell}`, completionScript(shell)])),
  'crossgear.1': commandPage(commandTable, release),
  'crossgear.toml.5': filePage(release),
  'crossgear.toml': exampleFile(presetOf(given)),
}
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
