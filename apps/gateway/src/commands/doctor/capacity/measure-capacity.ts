import { oneLine, StartError } from '../../../errors.ts'
import { Measurement } from './measure.ts'
import { MeasuredGateway } from './measured-gateway.ts'
import { type Capacity, capacityOf } from './report.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Measures this machine with a gateway and a Redis of its own, which are gone afterwards, also where a signal ends it.
 * `seconds`: of each load.
 *
 * @throws StartError
 */
export async function measureCapacity(
  seconds: number,
  stderr: { write(text: string): unknown; readonly isTTY?: boolean },
): Promise<Capacity> {
  let stop = (): void => {}
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => reject(new StartError('Stopped: nothing is said of what was measured by half.', 1))
  })
  stopped.catch(() => undefined)
  for (const signal of signals) process.once(signal, stop)
  try {
    const gateway = await MeasuredGateway.start()
    try {
      const measured = new Measurement(gateway, seconds).run((part) => {
        if (stderr.isTTY) stderr.write(`\r\u001B[KMeasuring: ${part} ...`)
      })
      return capacityOf(await Promise.race([measured, stopped, gateway.ended]), gateway.server)
    } catch (error) {
      if (error instanceof StartError) throw error
      throw new StartError(`The measurement failed: ${oneLine(error)}.`, 1, { cause: error })
    } finally {
      if (stderr.isTTY) stderr.write('\r\u001B[K')
      await gateway.close()
    }
  } finally {
    for (const signal of signals) process.off(signal, stop)
  }
}
