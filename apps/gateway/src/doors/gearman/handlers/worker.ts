import type { ErrorPacketKey } from '@crossgear/gearman-codec'
import {
  type AssignForm,
  assignPlain,
  assignWithReducer,
  assignWithUnique,
  ReportReply,
  ResultReply,
} from '../grabbed-job.ts'
import type { PacketHandler, Session } from '../session.ts'
import { argument, exceptionReport, leaseOf, plainFailure } from '../translate.ts'

/** `CAN_DO` function. */
export const canDo: PacketHandler = (session, args) => {
  const name = session.readLane(argument(args, 0), false)
  if (name) session.worker.canDo(name.fn)
}

/** `CAN_DO_TIMEOUT` function, milliseconds. */
export const canDoTimeout: PacketHandler = (session, args) => {
  const name = session.readLane(argument(args, 0), false)
  if (name) session.worker.canDo(name.fn, leaseOf(argument(args, 1)))
}

/** `CANT_DO` function. */
export const cantDo: PacketHandler = (session, args) => {
  const name = session.readFunction(argument(args, 0), false)
  if (name) session.worker.cantDo(name.fn)
}

/** `RESET_ABILITIES`. */
export const resetAbilities: PacketHandler = (session) => session.worker.reset()

/** `PRE_SLEEP`; `NOOP` follows when there is a job. */
export const preSleep: PacketHandler = (session) => session.worker.sleep()

/** `GRAB_JOB`, `GRAB_JOB_UNIQ`, `GRAB_JOB_ALL` -> `JOB_ASSIGN`, `_UNIQ`, `_ALL`, or `NO_JOB`. */
function grab(form: AssignForm): PacketHandler {
  return (session) => session.worker.grab(form)
}

export const grabJob = grab(assignPlain)
export const grabJobUniq = grab(assignWithUnique)
export const grabJobAll = grab(assignWithReducer)

/** `WORK_COMPLETE` handle, data. */
export const workComplete: PacketHandler = (session, args) => {
  const result = resultOf(session, args, 'RESULT_WITHOUT_JOB')
  if (result) session.scheduler.complete(result.assignment, argument(args, 1), result.reply)
}

/** `WORK_FAIL` handle. Some workers send it after `WORK_EXCEPTION` and would stop at an error. */
export const workFail: PacketHandler = (session, args) => {
  if (session.worker.hasThrown(argument(args, 0).toString('latin1'))) return
  const result = resultOf(session, args, 'RESULT_WITHOUT_JOB')
  if (result) session.scheduler.fail(result.assignment, plainFailure, result.reply)
}

/** `WORK_EXCEPTION` handle, data. It ends the job. */
export const workException: PacketHandler = (session, args) => {
  const result = resultOf(session, args, 'EXCEPTION_WITHOUT_JOB')
  const report = exceptionReport(argument(args, 1))
  if (!result) return
  session.worker.threw(argument(args, 0).toString('latin1'))
  session.scheduler.fail(result.assignment, report, result.reply)
}

/** Takes the job from the worker; a job that it does not have is answered with an error. */
function resultOf(session: Session, args: readonly Buffer[], fault: ErrorPacketKey) {
  const handle = argument(args, 0).toString('latin1')
  const held = session.worker.letGo(handle)
  if (held) {
    return { assignment: held.assignment, reply: new ResultReply(session, held, fault) }
  }
  session.connection.send(session.unasked(fault))
  return undefined
}

/** `WORK_DATA` handle, data. */
export const workData: PacketHandler = (session, args) => {
  const running = runningJob(session, args, 'DATA_WITHOUT_JOB')
  if (!running) return
  session.scheduler.report({ ...running.job, kind: 'data', data: argument(args, 1) }, running.reply)
}

/** `WORK_WARNING` handle, data. */
export const workWarning: PacketHandler = (session, args) => {
  const running = runningJob(session, args, 'DATA_WITHOUT_JOB')
  if (!running) return
  session.scheduler.report(
    { ...running.job, kind: 'warning', data: argument(args, 1) },
    running.reply,
  )
}

/** `WORK_STATUS` handle, numerator, denominator. */
export const workStatus: PacketHandler = (session, args) => {
  const running = runningJob(session, args, 'RESULT_WITHOUT_JOB')
  if (!running) return
  const [dividend, divisor] = [argument(args, 1), argument(args, 2)]
  session.scheduler.report({ ...running.job, kind: 'status', dividend, divisor }, running.reply)
}

function runningJob(session: Session, args: readonly Buffer[], fault: ErrorPacketKey) {
  const held = session.worker.held(argument(args, 0).toString('latin1'))
  if (!held) {
    session.connection.send(session.unasked(fault))
    return undefined
  }
  const { lane, id, token } = held.assignment.job
  const bytes = argument(args, 1).length
  return { job: { lane, id, token }, reply: new ReportReply(session, held, fault, bytes) }
}
