// One submission by the library, told by the environment as `gearmonkey-conformance` tells it.
import { buffer } from 'node:stream/consumers'
import { GearMonkeyClient, type RunOptions } from '../../../src/index.ts'

const given = (name: string): string => process.env[`GEARMONKEY_${name}`] ?? ''

const prio = given('PRIO') as 'high' | 'normal' | 'low' | 'scheduled'
const options: RunOptions = {
  ...(prio === 'scheduled' ? { scheduledFor: Number(given('SCHEDULED')) } : { priority: prio }),
  rollCall: given('ROLLCALL') !== '',
  ...(given('BLOCKING') === '' ? {} : { blocking: true, timeoutSeconds: Number(given('TIMEOUT')) }),
}
const client = new GearMonkeyClient(given('REDIS_URL'))
console.log(await client.run(given('FN'), await buffer(process.stdin), options))
client.close()
