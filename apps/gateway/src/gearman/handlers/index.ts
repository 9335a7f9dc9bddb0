import type { PacketName } from '@crossgear/gearman-codec'
import * as client from './client.ts'
import * as common from './common.ts'
import type { PacketHandler } from './packet-handler.ts'
import * as worker from './worker.ts'

const { notExpected } = common

/** What is done for each packet. */
export const handlers: Readonly<Record<PacketName, PacketHandler>> = {
  SUBMIT_JOB: client.submitJob,
  SUBMIT_JOB_BG: client.submitJobBg,
  SUBMIT_JOB_HIGH: client.submitJobHigh,
  SUBMIT_JOB_HIGH_BG: client.submitJobHighBg,
  SUBMIT_JOB_LOW: client.submitJobLow,
  SUBMIT_JOB_LOW_BG: client.submitJobLowBg,
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

  ECHO_REQ: common.echo,
  SET_CLIENT_ID: common.setClientId,
  OPTION_REQ: common.option,

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
