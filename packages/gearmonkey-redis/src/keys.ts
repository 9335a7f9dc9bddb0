/** Queues of a function that GearMonkey clients and workers use. */
export type QueueKind = 'high' | 'normal' | 'low' | 'scheduled'

/**
 * Key names of the GearMonkey text. In a cluster its braces are kept, which makes a function's name
 * the hash tag of all its keys.
 */
export class Keys {
  readonly open: '' | '{'
  readonly close: '' | '}'

  constructor(cluster = false) {
    this.open = cluster ? '{' : ''
    this.close = cluster ? '}' : ''
  }

  /** The last id given to a job of the lane. */
  uid(lane: string): string {
    return this.of('uid', lane)
  }

  /** The lane of a `uid` key. */
  laneOf(uidKey: string): string {
    return uidKey.slice(`uid:${this.open}`.length, uidKey.length - this.close.length)
  }

  /** The lane and id of a job's key, if it is one. */
  jobOf(key: string): { readonly lane: string; readonly id: number } | undefined {
    const start = `job:${this.open}`
    const [, lane, id] =
      new RegExp(`^(.+)${this.close}:(\\d+)$`, 's').exec(key.slice(start.length)) ?? []
    if (!key.startsWith(start) || lane === undefined) return undefined
    return { lane, id: Number(id) }
  }

  /** A job's hash. */
  job(lane: string, id: number | string): string {
    return `${this.of('job', lane)}:${id}`
  }

  /** A lane's queue: a list, or for `scheduled` a sorted set. */
  queue(lane: string, kind: QueueKind): string {
    return `${this.of('queue', lane)}:${kind}`
  }

  /** The channel of a lane's `create`, `start` and `finish` events. */
  channel(lane: string): string {
    return this.of('channel', lane)
  }

  /** The lane of a channel name, if it is one. */
  laneOfChannel(channel: string): string | undefined {
    const prefix = `channel:${this.open}`
    if (!channel.startsWith(prefix) || !channel.endsWith(this.close)) return undefined
    return channel.slice(prefix.length, channel.length - this.close.length)
  }

  /** The list that a blocking client waits on. */
  lock(lane: string, id: number | string): string {
    return `${this.of('lock', lane)}:${id}`
  }

  /** The number of a lane's workers. */
  count(lane: string): string {
    return this.of('count', lane)
  }

  /** A key of this kind, with the cluster's braces around its hash tag. */
  protected of(kind: string, tag: string): string {
    return `${kind}:${this.open}${tag}${this.close}`
  }
}
