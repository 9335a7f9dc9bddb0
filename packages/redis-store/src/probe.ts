import { Redis } from 'ioredis'
import {
  isClusterAddress,
  type SentinelAddress,
  type ServerAddress,
  type StoreAddress,
} from '@crossgear/gearmonkey-redis/address'

/**
 * REPLY: the server answered with an error. PROTOCOL: no Redis answers. CLOSED: the connection ended without an answer.
 * TIMEOUT: no answer in time.
 */
export type ProbeErrorCode = 'REPLY' | 'PROTOCOL' | 'CLOSED' | 'TIMEOUT'

/** ioredis's error for commands whose connection ends. */
const closedMessage = 'Connection is closed.'
const noRedis = 'the answer is not that of a Redis server'
const refusedLogin = /^(NOAUTH|WRONGPASS|NOPERM)\b|invalid password|without any password/

/** A failed command of a probe. An unreachable server is the system's own error instead. */
export class ProbeError extends Error {
  override readonly name = 'ProbeError'
  readonly code: ProbeErrorCode

  constructor(code: ProbeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  static is(error: unknown, code: ProbeErrorCode): error is ProbeError {
    return error instanceof ProbeError && error.code === code
  }

  /** The first word of the server's error: `NOAUTH`, `LOADING`. */
  get word(): string {
    return this.message.split(' ', 1)[0] ?? ''
  }

  /** True if the server refuses the login, or the lack of one. */
  get isRefusedLogin(): boolean {
    return this.code === 'REPLY' && refusedLogin.test(this.message)
  }
}

/**
 * A plain connection to one server, to find, check and stop it. It never reconnects; jobs never go
 * this way.
 */
export class StoreProbe {
  /** Settles when the connection is gone, for whatever reason. */
  readonly closed: Promise<void>
  readonly #redis: Redis
  readonly #withinMs: number
  #failure: Error | undefined

  private constructor(redis: Redis, withinMs: number) {
    this.#redis = redis
    this.#withinMs = withinMs
    this.closed = new Promise((resolve) => redis.once('end', () => resolve()))
    redis.on('error', (error: Error) => (this.#failure ??= error))
  }

  /**
   * Connects and logs in, within `withinMs`, which then also bounds each command.
   *
   * @throws ProbeError, or the system's error.
   */
  static async open(address: ServerAddress, withinMs: number): Promise<StoreProbe> {
    const { path, host = '127.0.0.1', port = 6379, tls, username, password, db = 0 } = address
    const redis = new Redis({
      ...(path === undefined ? { host, port } : { path }),
      ...(tls && { tls: { servername: host } }),
      protocol: 2,
      lazyConnect: true,
      // The commands below are the first bytes on the wire.
      enableReadyCheck: false,
      disableClientInfo: true,
      enableOfflineQueue: false,
      connectTimeout: withinMs,
      retryStrategy: () => null,
    })
    const probe = new StoreProbe(redis, withinMs)
    try {
      await redis.connect().catch((error: unknown) => {
        throw probe.#explain(error, 'connection', withinMs)
      })
      if (password !== undefined) {
        await probe.command('AUTH', ...(username === undefined ? [] : [username]), password)
      }
      if (db !== 0) await probe.command('SELECT', String(db))
      return probe
    } catch (error) {
      probe.end()
      throw error
    }
  }

  /** Sends one command. Throws a ProbeError, or the system's error. */
  command(...words: readonly string[]): Promise<unknown> {
    return this.send(words, this.#withinMs)
  }

  /** As `command`, with a time limit of its own. */
  async send([name = '', ...words]: readonly string[], withinMs: number): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new ProbeError('TIMEOUT', `no answer within ${withinMs} ms`))
        this.end()
      }, withinMs)
    })
    try {
      return await Promise.race([this.#redis.call(name, ...words), tooLate])
    } catch (error) {
      throw this.#explain(error, 'answer', withinMs)
    } finally {
      clearTimeout(timer)
    }
  }

  end(): void {
    this.#redis.disconnect()
  }

  /** ioredis only reports a closed connection; the event before it has the reason. */
  #explain(error: unknown, missing: 'connection' | 'answer', withinMs: number): Error {
    if (error instanceof ProbeError) return error
    const given = error instanceof Error ? error : new Error(String(error))
    if (given.name === 'ReplyError') {
      return new ProbeError('REPLY', given.message, { cause: error })
    }
    const cause = this.#failure ?? given
    const system = 'code' in cause ? cause.code : undefined
    if (system === 'ETIMEDOUT' && missing === 'connection') {
      return new ProbeError('TIMEOUT', `no connection within ${withinMs} ms`, { cause })
    }
    if (system !== undefined) return cause
    if (cause.message === closedMessage) {
      return new ProbeError('CLOSED', 'the server closed the connection', { cause })
    }
    return new ProbeError('PROTOCOL', noRedis, { cause })
  }
}

/**
 * A server of the store: itself, the master that the first Sentinel to answer names, or the first of a
 * cluster to answer.
 *
 * @throws as StoreProbe.open
 */
export async function locateServer(
  address: StoreAddress,
  withinMs: number,
): Promise<ServerAddress> {
  if ('sentinels' in address) {
    return firstThat(address.sentinels, (host) => askSentinel(address, host, withinMs))
  }
  if (!isClusterAddress(address)) return address
  const { nodes, ...login } = address
  return firstThat(nodes, async (host) => {
    const server = { ...login, ...host, db: 0 }
    const probe = await StoreProbe.open(server, withinMs)
    probe.end()
    return server
  })
}

type Host = SentinelAddress['sentinels'][number]

async function askSentinel(
  address: SentinelAddress,
  host: Host,
  withinMs: number,
): Promise<ServerAddress> {
  const { sentinels: _, name, sentinelUsername, sentinelPassword, ...server } = address
  const { tls = false } = server
  const sentinel = await StoreProbe.open(
    {
      ...host,
      tls,
      ...(sentinelUsername !== undefined && { username: sentinelUsername }),
      ...(sentinelPassword !== undefined && { password: sentinelPassword }),
    },
    withinMs,
  )
  try {
    const answer = await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)
    if (!Array.isArray(answer)) {
      throw new ProbeError('PROTOCOL', `the Sentinels know no master ${name}`)
    }
    const [masterHost, port] = answer.map(String)
    return { ...server, host: masterHost ?? '', port: Number(port), tls }
  } finally {
    sentinel.end()
  }
}

/** The result of the first host that does not fail, or the last host's error. */
async function firstThat<Found>(
  hosts: readonly Host[],
  ask: (host: Host) => Promise<Found>,
): Promise<Found> {
  let failure: unknown
  for (const host of hosts) {
    try {
      return await ask(host)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}
