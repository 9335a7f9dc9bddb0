import { Redis } from 'ioredis'
import { pause, type SentinelAddress } from '@crossgear/gearmonkey-redis/address'
import type { StoreEpoch } from './store-epoch.ts'

type Effect = 'replace' | 'reconnect' | 'resume'

/**
 * Effects of the messages of the Sentinel that leads a failover. It takes a step in a tenth of a second or so: the first
 * message comes two steps before the replica is promoted.
 */
const effects: Readonly<Record<string, Effect>> = {
  '+failover-state-select-slave': 'replace',
  '+failover-state-send-slaveof-noone': 'replace',
  '+promoted-slave': 'reconnect',
  '+switch-master': 'reconnect',
  '-failover-abort-not-elected': 'resume',
  '-failover-abort-no-good-slave': 'resume',
  '-failover-abort-slave-timeout': 'resume',
}

/**
 * Hears from the Sentinels that they replace the master. In a planned failover the former one goes on as a master for ten
 * seconds, and what it takes in that time is lost.
 */
export class SentinelWatch {
  readonly #connections: readonly Redis[]
  readonly #epoch: StoreEpoch
  /** The last master that was named: each Sentinel names it. */
  #successor = ''

  constructor(address: SentinelAddress, name: string, epoch: StoreEpoch) {
    this.#epoch = epoch
    const { sentinels, sentinelUsername, sentinelPassword, tls } = address
    this.#connections = sentinels.map((host) => {
      const redis = new Redis({
        ...host,
        ...(sentinelUsername === undefined ? {} : { username: sentinelUsername }),
        ...(sentinelPassword === undefined ? {} : { password: sentinelPassword }),
        ...(tls ? { tls: {} } : {}),
        connectionName: name,
        protocol: 2,
        lazyConnect: true,
        enableReadyCheck: false,
        enableOfflineQueue: false,
        autoResubscribe: false,
        retryStrategy: pause,
      })
      // A Sentinel that is away is left out: the others say the same, a moment later at most.
      redis.on('error', () => undefined)
      redis.on('ready', () => {
        redis.subscribe(...Object.keys(effects)).catch(() => redis.disconnect(true))
      })
      redis.on('message', (channel: string, message: string) => {
        const { master, successor } = namesIn(message.split(' '))
        if (master === address.name) this.#heard(effects[channel], successor)
      })
      return redis
    })
  }

  open(): void {
    for (const redis of this.#connections) redis.connect().catch(() => undefined)
  }

  close(): void {
    for (const redis of this.#connections) redis.disconnect()
  }

  #heard(effect: Effect | undefined, successor: string): void {
    const epoch = this.#epoch
    if (effect === 'resume') epoch.resume()
    else if (effect === 'replace' || successor !== this.#successor || epoch.isHeld) {
      this.#successor = successor
      epoch.replace()
      if (effect === 'reconnect') epoch.reconnect()
    }
  }
}

/**
 * Reads `slave 10.0.0.2:6379 10.0.0.2 6379 @ name 10.0.0.1 6379`, `master name 10.0.0.1 6379`, and
 * `name 10.0.0.1 6379 10.0.0.2 6379`.
 */
function namesIn(words: readonly string[]): {
  readonly master?: string
  readonly successor: string
} {
  const at = words.indexOf('@')
  const [master, successor] =
    at >= 0
      ? [words[at + 1], words.slice(2, 4)]
      : words[0] === 'master'
        ? [words[1], []]
        : [words[0], words.slice(3, 5)]
  return { ...(master !== undefined && { master }), successor: successor.join(' ') }
}
