export { EventLog, type StoreEvent } from './event-log.ts'
export { RecordingObserver, type Observation } from './recording-observer.ts'
export {
  aJob,
  allCompleted,
  completed,
  copies,
  idsOf,
  inputsOf,
  killed,
  namesOf,
  native,
  reclaimNode,
  requeued,
  retried,
  submitAll,
  take,
  takeOne,
} from './contract/kit.ts'
export {
  commonParts,
  type ContractPart,
  partsOfSlots,
  storeContract,
} from './contract/store-contract.ts'
export type { NativePeer, SteppedStore, StoreWorld, WorldOptions } from './contract/store-world.ts'
