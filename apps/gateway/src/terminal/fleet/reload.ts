import type { CommandContext, CommandRow } from '../command-row.ts'
import type { ExitName } from '../terminal-error.ts'

/** The same as SIGHUP, with an answer. */
export const reload: CommandRow = {
  words: ['reload'],
  summary:
    'make a gateway read its settings again, and print what changed and what needs a restart',
  run,
}

async function run({ client, isJson, print }: CommandContext): Promise<ExitName> {
  const report = await client.reload()
  const { changed, restart_needed: fixed } = report
  if (isJson) print(JSON.stringify(report))
  else {
    print(changed.length > 0 ? `Changed: ${changed.join(', ')}.` : 'Nothing changed.')
    if (fixed.length > 0) print(`A restart is needed for ${fixed.join(', ')}.`)
  }
  return 'done'
}
