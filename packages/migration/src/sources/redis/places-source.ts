import type { ServerConnection } from '@crossgear/redis-store'
import type { JobRecord } from '../../record/record.ts'
import type { Page, PageBounds, Source } from '../../source.ts'
import type { RedisPlaces } from './redis-places.ts'

export interface PlacesSourceOptions {
  readonly identity: string
  readonly limits: readonly string[]
  /** Other connections to the server. */
  readonly clients: number
  /** Of what, and programs that may have these, as the reason tells it: `Redis: Sidekiq runs on it`. */
  readonly users: string
}

/** A source whose jobs stand in lists and sorted sets of a Redis. */
export abstract class PlacesSource implements Source {
  readonly identity: string
  readonly limits: readonly string[]
  readonly liveReason?: string
  protected readonly redis: ServerConnection
  protected abstract readonly places: RedisPlaces

  constructor(redis: ServerConnection, { identity, limits, clients, users }: PlacesSourceOptions) {
    this.redis = redis
    this.identity = identity
    this.limits = limits
    if (clients > 0) {
      this.liveReason = `${clients} other connections are open to this ${users}`
    }
  }

  total(): Promise<number> {
    return this.places.total()
  }

  pages(after: string | undefined, bounds: PageBounds): AsyncGenerator<Page> {
    return this.places.pages(after, bounds)
  }

  remove(records: readonly JobRecord[]): Promise<void> {
    return this.places.remove(records)
  }

  lastRemoved(): Promise<readonly Buffer[]> {
    return this.places.lastRemoved()
  }

  forgetRemoved(): Promise<void> {
    return this.places.forgetRemoved()
  }

  abstract restore(records: readonly JobRecord[]): Promise<void>

  close(): Promise<void> {
    this.redis.disconnect()
    return Promise.resolve()
  }
}
