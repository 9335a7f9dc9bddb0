import { maxFunctionBytes } from '@crossgear/core-scheduler'
import { adminReplies, formatInvalidArguments, type AdminCommand } from '@crossgear/gearman-codec'
import type { Session } from '../session.ts'

type Command<Name extends AdminCommand['command']> = Extract<AdminCommand, { command: Name }>

/** `cancel job HANDLE`: queued or running; its clients hear that it failed. */
export async function cancelJob(session: Session, { handle }: Command<'cancel job'>) {
  const ref = session.context.handles.parse(handle)
  const cancelled = ref !== undefined && (await session.scheduler.admin.cancel(ref))
  if (!cancelled) return adminReplies.unknownJob
  const { sessions, handles } = session.context
  const shown = handles.of(ref)
  if (shown !== undefined) for (const { worker } of sessions) worker.cancelled(shown)
  return adminReplies.ok
}

/** `maxqueue FUNCTION [SIZE | HIGH NORMAL LOW]`: of a function that there is. */
export async function setMaxQueue({ scheduler }: Session, command: Command<'maxqueue'>) {
  const { high, normal, low } = command
  const lane = scheduler.registry.names.canonical(command.function)
  if (scheduler.registry.numberOf(lane) !== undefined) {
    await scheduler.admin.setLimits(lane, { high, normal, low })
  }
  return adminReplies.ok
}

/** `create function NAME`: it is listed from now on. */
export async function createFunction({ scheduler }: Session, command: Command<'create function'>) {
  const name = command.function
  if (Buffer.byteLength(name) > maxFunctionBytes) return formatInvalidArguments('create')
  await scheduler.admin.addLane(scheduler.registry.names.canonical(name))
  return adminReplies.ok
}

const dropReplies = {
  dropped: adminReplies.ok,
  unknown: adminReplies.functionNotFound,
  busy: adminReplies.functionInUse,
} as const

/** `drop function NAME`, with the jobs that wait in it; not while it has workers or runs. */
export async function dropFunction({ scheduler }: Session, command: Command<'drop function'>) {
  return dropReplies[
    await scheduler.admin.dropLane(scheduler.registry.names.canonical(command.function))
  ]
}

/** `shutdown [graceful]`. */
export function shutDown({ context }: Session, { graceful }: Command<'shutdown'>): string {
  context.options.shutdown?.(graceful)
  return adminReplies.ok
}
