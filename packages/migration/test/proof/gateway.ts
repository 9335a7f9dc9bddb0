import { bundleWords } from '@crossgear/tools/gateway-program'
import { OwnProcess } from '@crossgear/tools/own-process'

/** Settings of the gateway are no part of a proof. */
export const env = { PATH: process.env['PATH'] }

interface ReadyLine {
  readonly doors: readonly { readonly name: string; readonly port: number }[]
}

/** A gateway on a store, with one door. */
export async function startDoor(door: 'gearman' | 'faktory', url: string) {
  const other = door === 'gearman' ? 'faktory' : 'gearman'
  const words = [`--${door}-port`, '0', `--${other}-port`, 'off', '--web-port', 'off']
  const gateway = new OwnProcess(
    process.execPath,
    [...bundleWords(), ...words, '--redis-url', url],
    {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const port = await gateway.said((line) => {
    if (!line.includes('"msg":"Ready."') || !line.endsWith('}')) return undefined
    const { doors } = JSON.parse(line) as ReadyLine
    return doors.find(({ name }) => name === door)?.port
  })
  return { port, stop: () => gateway.stop() }
}
