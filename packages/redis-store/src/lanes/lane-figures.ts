import { CountsReply, type ReadFigures } from './counts.ts'
import { occupiedLanes } from './occupied-lanes.ts'
import { unpack } from '../scripts/packed.ts'
import { ContextPart } from '../connection/context-part.ts'

/** As the counts script names them. */
type Extent = 'sizes' | 'totals' | 'oldest'

/** Up to this many lanes are all read, at some 10 us each. */
const fewLanes = 1_024

/** Reads the figures of lanes by script. Of many lanes, those that hold nothing are sorted out before. */
export class LaneFigures extends ContextPart {
  /** The figures of lanes, in their order. */
  async read<Figures>(
    lanes: readonly string[],
    extent: Extent,
    figuresOf: ReadFigures<Figures>,
  ): Promise<readonly Figures[]> {
    const { isCluster } = this.context
    if (isCluster || lanes.length <= fewLanes) return this.#readAll(lanes, extent, figuresOf)
    const occupied = await this.#occupied(lanes, extent)
    const read = await this.#readAll(occupied, extent, figuresOf)
    const none = new CountsReply([])
    let at = 0
    return lanes.map((lane) => {
      if (lane !== occupied[at]) return figuresOf(lane, none)
      at += 1
      return read[at - 1] as Figures
    })
  }

  #readAll<Figures>(
    lanes: readonly string[],
    extent: Extent,
    figuresOf: ReadFigures<Figures>,
  ): Promise<readonly Figures[]> {
    const { run, keys, perLanes, isAutoOpen } = this.context
    return perLanes(lanes, async (some, first) => {
      const list = await run(
        'counts',
        [keys.busy(first)],
        [extent, isAutoOpen ? '1' : '0', ...some],
      )
      const reply = new CountsReply(unpack(list as Buffer) as number[])
      return some.map((lane) => {
        reply.next()
        return figuresOf(lane, reply)
      })
    })
  }

  /** Lanes of which a figure may not be 0. */
  #occupied(lanes: readonly string[], extent: Extent): Promise<readonly string[]> {
    const { keys } = this.context
    if (extent === 'sizes') {
      // Jobs wait outside lists that native workers emptied: then the lane is in the index of due ones.
      const addKeys = (lane: string, found: string[]): void => keys.addPlaces(lane, found)
      return occupiedLanes(this.context, lanes, { addKeys, index: keys.due })
    }
    return occupiedLanes(this.context, lanes, {
      addKeys: (lane, found) => {
        keys.addPlaces(lane, found)
        found.push(keys.meta(lane))
      },
    })
  }
}
