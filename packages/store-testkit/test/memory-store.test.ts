import { ManualClock, MemoryWorld, storeContract } from '../src/index.ts'

storeContract('the store in memory', (options) =>
  Promise.resolve(new MemoryWorld(new ManualClock(), options)),
)
