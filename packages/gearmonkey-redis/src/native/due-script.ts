import type { Redis } from 'ioredis'
import type { Commands } from './commands.ts'
import { isCluster } from './connections.ts'
import { GearMonkeyError, messageOf } from './errors.ts'

/** Takes one due job out of `queue:{FN}:scheduled`. The two spaces belong to the text. */
export const dueScript =
  "local item = redis.call('ZRANGEBYSCORE', KEYS[1], 0, ARGV[1], 'LIMIT', 0, 1); " +
  "if (#item > 0) then redis.call('ZREM', KEYS[1], item[1]); " +
  'return { KEYS[1],  item[1] }; end'

/** The SHA-1 of the script in the GearMonkey text. */
export const dueScriptSha1 = '5231827cd49b540660ef44969b38cc858f157824'

/**
 * SCRIPT LOAD.
 * @throws GearMonkeyError SCRIPT_MISMATCH
 */
export async function loadDueScript(commands: Commands): Promise<void> {
  for (const sha1 of await loadScript(commands, dueScript)) {
    if (sha1 !== dueScriptSha1) throw new GearMonkeyError('SCRIPT_MISMATCH', sha1)
  }
}

/** One due job as `[key, id]`, or null. */
export function takeDue(commands: Commands, fn: string, nowSeconds: number): Promise<unknown> {
  return runScript(commands, dueScript, () => commands.takeDue(fn, dueScriptSha1, nowSeconds))
}

/** Calls a script. Loads it if the server does not have it, or has lost it. */
export async function runScript(
  commands: Commands,
  script: string,
  call: () => Promise<unknown>,
): Promise<unknown> {
  try {
    return await call()
  } catch (error) {
    if (!messageOf(error).startsWith('NOSCRIPT')) throw error
    await loadScript(commands, script)
    return call()
  }
}

/** The SHA-1 that the server gives. In a cluster on every master, since the command has no key to route it by. */
async function loadScript(commands: Commands, script: string): Promise<string[]> {
  const { connection } = commands
  const servers: readonly Redis[] = isCluster(connection) ? connection.nodes('master') : []
  const replies = isCluster(connection)
    ? await Promise.all(servers.map((server) => server.callBuffer('SCRIPT', ['LOAD', script])))
    : [await commands.send('SCRIPT', 'LOAD', script)]
  return replies.map(String)
}
