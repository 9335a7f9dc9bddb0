import { ManualClock, MemoryStoreWorld, storeContract } from '../src/index.ts'

storeContract(
  'the store in memory',
  (options) => Promise.resolve(new MemoryStoreWorld(new ManualClock(), options)),
  { isWhole: false },
)
