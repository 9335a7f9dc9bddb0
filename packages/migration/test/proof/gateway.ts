import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { bundleWords } from '@crossgear/tools/gateway-program'

/** Settings of the gateway are no part of a proof. */
export const env = { PATH: process.env['PATH'] }

interface ReadyLine {
  readonly doors: readonly { readonly name: string; readonly port: number }[]
}

/** A gateway on a store, with one door. */
export async function startDoor(door: 'gearman' | 'faktory', url: string) {
  const other = door === 'gearman' ? 'faktory' : 'gearman'
  const words = [`--${door}-port`, '0', `--${other}-port`, 'off', '--web-port', 'off']
  const child = spawn(process.execPath, [...bundleWords(), ...words, '--redis-url', url], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (!line.includes('"msg":"Ready."')) return
      const { doors } = JSON.parse(line) as ReadyLine
      resolve(doors.find(({ name }) => name === door)?.port ?? 0)
    })
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exited
  }
  return { port, stop }
}
