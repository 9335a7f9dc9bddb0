import { maxClientIdBytes } from '@crossgear/gearman-codec'
import type { Handlers, PacketHandler } from '../session.ts'
import { argument } from '../translate.ts'
import { takeLine } from './admin.ts'
import * as client from './client.ts'
import * as worker from './worker.ts'

/** `ECHO_REQ` data -> `ECHO_RES` data. */
const echo: PacketHandler = (session, args) => session.send('ECHO_RES', argument(args, 0))

/** `SET_CLIENT_ID` id. */
const setClientId: PacketHandler = (session, args) => {
  session.clientId = argument(args, 0).toString('utf8', 0, maxClientIdBytes)
}

/** `OPTION_REQ` option, in any case -> `OPTION_RES` option, as spelt. */
const option: PacketHandler = (session, args) => {
  const name = argument(args, 0)
  if (name.toString('latin1').toLowerCase() !== 'exceptions') {
    session.sendError('UNKNOWN_OPTION')
    return
  }
  session.client.exceptions = true
  session.send('OPTION_RES', name)
}

/** Any packet that is not for a server. */
const notExpected: PacketHandler = (session) => session.sendError('COMMAND_NOT_EXPECTED')

/** The handler of each packet. */
const packets: Handlers['packets'] = {
  ...client.plainSubmits,
  SUBMIT_JOB_EPOCH: client.submitJobEpoch,
  SUBMIT_JOB_SCHED: client.submitJobSched,
  SUBMIT_REDUCE_JOB: client.submitReduceJob,
  SUBMIT_REDUCE_JOB_BACKGROUND: client.submitReduceJobBackground,
  GET_STATUS: client.getStatus,
  GET_STATUS_UNIQUE: client.getStatusUnique,

  CAN_DO: worker.canDo,
  CAN_DO_TIMEOUT: worker.canDoTimeout,
  CANT_DO: worker.cantDo,
  RESET_ABILITIES: worker.resetAbilities,
  PRE_SLEEP: worker.preSleep,
  GRAB_JOB: worker.grabJob,
  GRAB_JOB_UNIQ: worker.grabJobUniq,
  GRAB_JOB_ALL: worker.grabJobAll,
  WORK_COMPLETE: worker.workComplete,
  WORK_FAIL: worker.workFail,
  WORK_EXCEPTION: worker.workException,
  WORK_DATA: worker.workData,
  WORK_WARNING: worker.workWarning,
  WORK_STATUS: worker.workStatus,

  ECHO_REQ: echo,
  SET_CLIENT_ID: setClientId,
  OPTION_REQ: option,

  UNUSED: notExpected,
  ALL_YOURS: notExpected,
  NOOP: notExpected,
  NO_JOB: notExpected,
  JOB_CREATED: notExpected,
  JOB_ASSIGN: notExpected,
  JOB_ASSIGN_UNIQ: notExpected,
  JOB_ASSIGN_ALL: notExpected,
  ECHO_RES: notExpected,
  ERROR: notExpected,
  OPTION_RES: notExpected,
  STATUS_RES: notExpected,
  STATUS_RES_UNIQUE: notExpected,
}

export const handlers: Handlers = { packets, takeLine }
