import { setTimeout as delay } from 'node:timers/promises'
import { FaktoryConnection } from '@crossgear/peers'
import { oneJobEach } from '../../testing/one-job-each.ts'
import { settled, withServers, type RowGroup } from '../bench.ts'
import { atMost } from '../report/figures.ts'
import { storeCommands } from '../report/store-commands.ts'
import { startGateway, type Gateway } from '../servers.ts'

const functions = 2_000
/** Time in which the end of the consumer's work is over too, milliseconds. */
const stretchMs = 4_000

/** A consumer joins a queue that has no lane, and leaves, while functions elsewhere have jobs. */
export const join: RowGroup = {
  name: 'join',
  async measure({ scale }) {
    const samples = await withServers([() => startGateway()], async ([gateway]) => {
      await oneJobEach(gateway!.port, functions)
      await settled(gateway!)
      const extra: number[] = []
      for (let round = 0; round < scale.rounds; round++) {
        const atRest = await commandsIn(gateway!, () => Promise.resolve())
        extra.push((await commandsIn(gateway!, () => visit(gateway!.faktoryPort))) - atRest)
      }
      return extra
    })
    const count = functions.toLocaleString('en-US')
    const name = `a consumer joins a queue without a lane and leaves, ${count} functions elsewhere`
    return [{ name, unit: 'commands', ours: samples, target: atMost(100) }]
  },
}

/** Commands of one stretch of time, in which `act` takes place. */
async function commandsIn({ client }: Gateway, act: () => Promise<void>): Promise<number> {
  const look = async () => storeCommands(await client.info('commandstats'))
  const before = await look()
  await Promise.all([act(), delay(stretchMs)])
  return (await look()) - before - 1
}

/** A FETCH in vain, which takes two seconds. */
async function visit(port: number): Promise<void> {
  const consumer = await FaktoryConnection.open({ port, wid: 'bench' })
  await consumer.ask('FETCH', 'nowhere')
  await consumer.end()
}
