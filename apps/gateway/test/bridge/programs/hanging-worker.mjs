import { Redis } from 'ioredis'

/** A GearMonkey worker that takes a job and never ends it: `popped` or, when it has said so, `busy`. */
const [path = '', fn = '', stage] = process.argv.slice(2)

const redis = new Redis(path)
const [, id = ''] = (await redis.brpop(`queue:${fn}:normal`, 0)) ?? []
if (stage === 'busy') {
  await redis.publish(`channel:${fn}`, `start:${id}`)
  await redis.hset(`job:${fn}:${id}`, 'status', 'busy')
}
process.stdout.write('has it\n')
