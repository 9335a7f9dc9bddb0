export { Keys, type QueueKind } from './keys.ts'
export * from './native/index.ts'
