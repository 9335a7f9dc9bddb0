import { functions } from '../world/settings.ts'
import { Client } from './gearman-client.ts'
import { GearmanPort } from './gearman-port.ts'
import { connect, type Peer } from './peer.ts'

/** Jobs whose client leaves before its answer: more than workers begin before it is known. */
const earlyJobs = 8
/** Jobs that come to workers that have just found nothing. */
const lateJobs = 5
/** Longest time between two of these, milliseconds: gateways believe for 100 that there is no job. */
const maxGapMs = 120

/** Comes when all work is done. It leaves once before its answer, and then brings jobs one by one, to workers that sleep. */
export async function lastClient(peer: Peer): Promise<void> {
  const { random, clock, name, history } = peer
  const early = new GearmanPort()
  const leaver = new Client(peer, await connect(peer, 'gearman', early))
  const hasLeft = leaver.listen()
  const fn = random.pick(functions)
  for (let one = 1; one <= earlyJobs; one += 1) leaver.submitPlain(`${name}-10${one}`, fn, true)
  history.say(`${name} leaves before its answer`)
  early.vanish()
  await hasLeft
  await clock.sleep(300)
  const late = new GearmanPort()
  const client = new Client(peer, await connect(peer, 'gearman', late))
  const isDone = client.listen()
  for (let one = 1; one <= lateJobs; one += 1) {
    client.submitPlain(`${name}-20${one}`, random.pick(functions), false)
    await clock.sleep(random.next() * maxGapMs)
  }
  late.vanish()
  await isDone
}
