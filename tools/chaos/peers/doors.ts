import { setTimeout as delay } from 'node:timers/promises'
import { FaktoryConnection, GearmanConnection } from '@crossgear/peers'

/** Address of a gateway, perhaps of a proxy before it. */
export interface Way {
  /** The name of the gateway. */
  readonly node: string
  readonly gearman: number
  readonly faktory: number
}

/** Silence after which a peer gives a connection up, milliseconds. */
const answerWithinMs = 8_000
const pauseMs = 100

export function openGearman({ gearman }: Way): Promise<GearmanConnection> {
  return GearmanConnection.open({ port: gearman }, answerWithinMs)
}

/** `consumer`: who it is, where it works. */
export function openFaktory(
  { faktory }: Way,
  consumer?: { readonly wid: string },
): Promise<FaktoryConnection> {
  return FaktoryConnection.open({ port: faktory, name: 'chaos', ...consumer }, answerWithinMs)
}

/** Tries one gateway after the other until one answers, or it is told to stop. */
export async function openSomewhere<T>(
  ways: readonly Way[],
  first: number,
  open: (way: Way) => Promise<T>,
  isStopped: () => boolean,
): Promise<{ readonly opened: T; readonly way: Way } | undefined> {
  for (let at = first; !isStopped(); at += 1) {
    const way = ways[at % ways.length]!
    try {
      return { opened: await open(way), way }
    } catch {
      await delay(pauseMs)
    }
  }
  return undefined
}

/** The order in which a worker's connection of that number asks: each second one from the end. */
export function inTurn<T>(all: readonly T[], number: number): readonly T[] {
  return number % 2 === 0 ? all : [...all].reverse()
}
