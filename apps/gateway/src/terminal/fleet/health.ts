import type { CommandContext, CommandRow } from '../command-row.ts'
import { type ExitName, TerminalError } from '../terminal-error.ts'

/** The gateway itself gives its store two seconds. */
const timeoutMs = 5_000

/** In the answer of a gateway that is ready. */
const readyWord = '"ready"'

/** For a container's HEALTHCHECK, which knows 0 and 1 alone. */
export const health: CommandRow = {
  words: ['health'],
  summary: 'exit with 0 if the gateway answers and has its store, otherwise with 1',
  isOpen: true,
  run,
}

async function run({ client, isJson, print }: CommandContext): Promise<ExitName> {
  const reason = await reasonOf(client)
  if (isJson) print(JSON.stringify({ healthy: reason === undefined, reason: reason ?? null }))
  else if (reason === undefined) print(`The gateway at ${client.url} is ready.`)
  if (reason === undefined) return 'done'
  if (isJson) return 'unhealthy'
  throw new TerminalError('unhealthy', reason)
}

/** Why it is not healthy. */
async function reasonOf(client: CommandContext['client']): Promise<string | undefined> {
  try {
    const { status, text } = await client.send(`${client.url}/readyz`, { timeoutMs })
    if (status === 200 && text.includes(readyWord)) return undefined
    return `The gateway at ${client.url} is not ready: ${text.trim()}`
  } catch (error) {
    if (error instanceof TerminalError) return error.message
    throw error
  }
}
