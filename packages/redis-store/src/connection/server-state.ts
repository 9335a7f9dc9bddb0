import type { HostPort } from '@crossgear/gearmonkey-redis/address'
import type { Redis } from 'ioredis'

/** A replica, as its master describes it. */
export interface ReplicaState extends HostPort {
  /** The replica has its first copy, and follows. */
  readonly isOnline: boolean
  /** The replica has confirmed what its master wrote up to here. */
  readonly offset: number
}

/** A server, as `INFO replication` describes it. */
export interface ServerState {
  readonly isMaster: boolean
  readonly hasReplicas: boolean
  readonly replicas: readonly ReplicaState[]
  /** The replication id of the server: another one after each restart, and when it becomes the master. */
  readonly history: string
  /** The replication id of the master whose place it has taken. */
  readonly formerHistory: string
  /** How much it has written. */
  readonly offset: number
}

/** Reads `INFO replication`; empty where the user may not ask. */
export function stateOf(info: string): ServerState {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
  return {
    isMaster: field('role') !== 'slave',
    hasReplicas: field('connected_slaves') !== '0',
    replicas: [...info.matchAll(/^slave\d+:(.*?)\r?$/gm)].map(([, words = '']) =>
      replicaOf(new URLSearchParams(words.replaceAll(',', '&'))),
    ),
    history: field('master_replid') ?? 'unknown',
    formerHistory: field('master_replid2') ?? '',
    offset: Number(field('master_repl_offset') ?? 0),
  }
}

/** Reads `ip=10.0.0.2,port=6379,state=online,offset=84,lag=0`. */
function replicaOf(words: URLSearchParams): ReplicaState {
  return {
    host: words.get('ip') ?? '',
    port: Number(words.get('port')),
    isOnline: words.get('state') === 'online',
    offset: Number(words.get('offset')),
  }
}

/** `INFO replication`; empty for a user without the permission to ask. */
export async function replicationOf(server: Redis): Promise<string> {
  try {
    return await server.info('replication')
  } catch (error) {
    if (error instanceof Error && error.name === 'ReplyError') return ''
    throw error
  }
}
