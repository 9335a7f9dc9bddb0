export { Keys, type Place } from './keys.ts'
export * from './native/index.ts'
