import { setTimeout as delay } from 'node:timers/promises'
import { GearmanConnection } from '@crossgear/peers'
import { SpecPeer } from '@crossgear/tools/spec-peer'
import type { Gateway } from '../world/gateway.ts'
import { probeKey } from '../world/probe.ts'
import type { Stage } from '../stage.ts'
import { killAndRestart } from './gateways.ts'
import type { Scenario } from './scenario.ts'

/** Nobody works on them: a function with workers is not dropped. */
const dropped = ['side-0@aside', 'side-1@aside']
const answerWithinMs = 5_000
/** Rounds without which the scenario shows nothing, however slow the machine, and how long they may take. */
const minRounds = 10
const roundsWithinMs = 60_000
const roundEveryMs = 50

/** Jobs come into functions, and the functions are dropped, until it is told to stop. */
class Drops {
  rounds = 0
  #goesOn = true
  readonly #ended: Promise<unknown>

  constructor(stage: Stage) {
    this.#ended = Promise.all([
      ...stage.gateways.map((gateway) => this.#while(() => this.#submitAt(gateway))),
      ...stage.gateways.map((gateway) => this.#while(() => this.#dropAt(gateway))),
      this.#submitNatively(stage),
    ])
  }

  async stop(): Promise<void> {
    const endMs = performance.now() + roundsWithinMs
    while (this.rounds < minRounds && performance.now() < endMs) await delay(roundEveryMs)
    this.#goesOn = false
    await this.#ended
  }

  /** A native client pushes an id after its hash: one that a drop came between stands for a job that has ended. */
  async dropLast(gateway: Gateway): Promise<void> {
    await this.#at(gateway, (link) => this.#dropAll(link))
  }

  /** A gateway that dies is asked again once it is back. */
  async #while(act: () => Promise<void>): Promise<void> {
    while (this.#goesOn) await act().catch(() => undefined)
  }

  #submitAt(gateway: Gateway): Promise<void> {
    return this.#at(gateway, async (link) => {
      while (this.#goesOn) {
        for (const fn of dropped) link.send('SUBMIT_JOB_BG', fn, '', probeKey)
        for (let left = dropped.length; left > 0; left -= 1) await link.answer()
      }
    })
  }

  #dropAt(gateway: Gateway): Promise<void> {
    return this.#at(gateway, async (link) => {
      while (this.#goesOn) {
        await this.#dropAll(link)
        this.rounds += 1
      }
    })
  }

  async #at({ gearman }: Gateway, act: (link: GearmanConnection) => Promise<void>): Promise<void> {
    const link = await GearmanConnection.open({ port: gearman }, answerWithinMs)
    await act(link).finally(() => link.close())
  }

  async #dropAll(link: GearmanConnection): Promise<void> {
    for (const fn of dropped) await link.line(`drop function ${fn}`)
  }

  async #submitNatively({ store }: Stage): Promise<void> {
    const redis = store.connect()
    try {
      const native = new SpecPeer(redis)
      while (this.#goesOn) for (const fn of dropped) await native.submit(fn, probeKey)
    } finally {
      redis.disconnect()
    }
  }
}

/** Functions that are dropped. */
export const dropScenarios: readonly Scenario[] = [
  {
    name: 'functions-dropped',
    about:
      'functions are dropped at both gateways while jobs come into them, and a gateway is killed',
    quick: true,
    async play(stage) {
      await stage.share(0.1)
      const drops = new Drops(stage)
      await stage.share(0.3)
      await killAndRestart(stage, stage.gateways[0]!)
      await stage.share(0.6)
      await drops.stop()
      await drops.dropLast(stage.gateways[1]!)
      if (drops.rounds < minRounds) stage.problems.push(`only ${drops.rounds} rounds of drops`)
    },
  },
]
