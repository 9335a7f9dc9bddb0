import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@crossgear/tools/free-port'
import { RedisServer } from '@crossgear/tools/redis-server'
import { startGateway } from '../../../support/gateway-process.ts'

/** A server for Gearman workers, in a process of its own. */
export interface MeasuredServer {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

/** A gateway on a Redis of its own. */
export async function startCrossgear(wakeups: number): Promise<MeasuredServer> {
  const redis = await RedisServer.start()
  const ports = ['--gearman-port', '0', '--faktory-port', 'off', '--web-port', 'off']
  const words = ['--redis-url', `unix://${redis.path}`, '--worker-wakeup', String(wakeups)]
  const { child, ready, exited } = startGateway(['serve', ...ports, ...words])
  const { port } = await ready
  return {
    port: port('gearman'),
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      await exited
      await redis.stop()
    },
  }
}

/** Debian's gearmand, its jobs in memory. */
export async function startGearmand(wakeups: number): Promise<MeasuredServer> {
  const port = await freePort()
  // The server removes its pid file when it ends, whatever that is.
  const folder = mkdtempSync(join(tmpdir(), 'gearmand-bench-'))
  const words = ['-p', String(port), '-L', '127.0.0.1', '-w', String(wakeups), '-l', 'none']
  const pidFile = join(folder, 'gearmand.pid')
  const child = spawn('/usr/sbin/gearmand', [...words, '-P', pidFile], { stdio: 'ignore' })
  const exited = once(child, 'exit')
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error('gearmand does not start')
  }
  return {
    port,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGKILL')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
