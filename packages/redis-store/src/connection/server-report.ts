import type { ServerReport } from '@crossgear/core-scheduler'
import type { Redis } from 'ioredis'

/** Sections of INFO that a report is made of. */
const sections = ['memory', 'persistence', 'server'] as const

/** A server's report about itself; undefined for a user without the permission to ask. */
export async function reportOf(server: Redis): Promise<ServerReport | undefined> {
  try {
    const texts = await Promise.all(sections.map((section) => server.info(section)))
    const { host, port, path } = server.options
    return readReport(path ?? `${host ?? ''}:${port ?? ''}`, texts.join('\n'))
  } catch (error) {
    if (error instanceof Error && error.name === 'ReplyError') return undefined
    throw error
  }
}

/** Reads the text of INFO. */
export function readReport(server: string, info: string): ServerReport {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
  const number = (name: string): number => Number(field(name) ?? 0)
  const isAppendOnly = field('aof_enabled') === '1'
  const savedMs = number('rdb_last_save_time') * 1000
  const startedMs = number('server_time_usec') / 1000 - number('uptime_in_seconds') * 1000
  return {
    server,
    usedBytes: number('used_memory'),
    maxBytes: number('maxmemory'),
    machineBytes: number('total_system_memory'),
    policy: field('maxmemory_policy') ?? 'noeviction',
    isAppendOnly,
    hasFailed:
      field('aof_last_write_status') === 'err' ||
      (!isAppendOnly && field('rdb_last_bgsave_status') === 'err'),
    unsaved: number('rdb_changes_since_last_save'),
    // Before its first snapshot a server names the time of its start.
    ...(savedMs > startedMs + 1_000 && { savedMs }),
  }
}
