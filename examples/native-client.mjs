// A GearMonkey client, straight on Redis: submits a job, waits for its end and prints the output.
import { GearMonkeyClient } from '@crossgear/gearmonkey-redis'
import { storeUrl } from './store-url.mjs'

const client = new GearMonkeyClient(storeUrl())
const id = await client.run('reverse', process.argv[2] ?? 'Hello', {
  blocking: true,
  timeoutSeconds: 10,
})
const job = await client.get('reverse', id)
console.log(`${job.status}: ${job.output}`)
await client.close()
