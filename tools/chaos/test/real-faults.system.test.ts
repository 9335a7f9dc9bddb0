import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Assignment } from '@crossgear/core-scheduler'
import { lacksRedis, RedisServer } from '@crossgear/tools/redis-server'
import { soon } from '@crossgear/tools/wait-for'
import { check } from '../check/check.ts'
import type { Fault } from '../check/faults.ts'
import { violationsOf, type Verdict } from '../check/verdict.ts'
import { StoreView } from '../world/store-view.ts'
import { SmallNode, type Parts } from './support/small-node.ts'
import { Story } from './support/story.ts'

/** Each time the same story: with the product as it is, and with one part of it broken. */
describe.skipIf(lacksRedis)('with a real store the checker', () => {
  let server: RedisServer
  let nodes: SmallNode[]
  beforeEach(async () => {
    nodes = []
    server = await RedisServer.start()
  })
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await server.stop()
  })

  const start = async (parts?: Parts): Promise<SmallNode> => {
    const node = await SmallNode.start(server.path, parts)
    nodes.push(node)
    return node
  }
  const kill = async (node: SmallNode): Promise<void> => {
    nodes = nodes.filter((other) => other !== node)
    await node.die()
  }
  const judged = async (story: Story, ...faults: Fault[]): Promise<Verdict> => {
    const redis = server.connect()
    return check({
      history: story.history,
      snapshot: await new StoreView(redis, ['mail']).snapshot(),
      faults,
      slots: () => 1,
      invariants: [],
      figures: [],
      maxLosses: 0,
    })
  }
  const taken = (node: SmallNode, leaseMs?: number): Promise<Assignment> =>
    vi.waitFor(async () => {
      const assignment = await node.take(leaseMs)
      if (!assignment) throw new Error('no job')
      return assignment
    }, soon)

  describe('finds the effect of a script without fencing: a late outcome takes the job from its worker', () => {
    /** A worker whose lease ran out goes, while another has the job; a third asks for one. */
    const tell = async (node: SmallNode): Promise<Verdict> => {
      const story = new Story().submitted('a')
      await node.submit('a')
      const late = await taken(node, 100)
      story.tell('late', 'start', 'a', 'gearman:node1')
      const second = await taken(node)
      story.at(2_000).tell('second', 'start', 'a', 'gearman:node1')
      await node.release(late)
      const third = await node.take()
      if (third) {
        story.at(2_010).ran('third', 'a')
        await node.complete(third)
      }
      story.at(2_100).tell('second', 'finish', 'a')
      await node.complete(second)
      return judged(story, { what: 'lease over', subject: 'late', fromMs: 100, toMs: 100 })
    }

    test('broken', async () => {
      const redis = server.connect()
      const node = await start((sound) => ({
        steps: {
          step: async (step) => {
            const unfenced = step.outcomes.map(async ({ lane, outcomes }) => {
              const each = outcomes.map(async (outcome) => {
                const token = await redis.hget(`job:${lane}:${outcome.id}`, 'token')
                return { ...outcome, token: token ?? outcome.token }
              })
              return { lane, outcomes: await Promise.all(each) }
            })
            return sound.steps.step({ ...step, outcomes: await Promise.all(unfenced) })
          },
        },
      }))
      const verdict = await tell(node)
      expect(verdict.overlaps).toEqual(['a by third while second (gearman:node1) ran it'])
      expect(verdict.unexcused).toHaveLength(1)
    })

    test('sound', async () => {
      expect(violationsOf(await tell(await start()))).toEqual([])
    })
  })

  describe('finds the effect of an answer before the store: the job dies with the gateway', () => {
    const tell = async (node: SmallNode): Promise<Verdict> => {
      await node.submit('a')
      await kill(node)
      const survivor = await start()
      const story = new Story().submitted('a')
      const assignment = await survivor.take()
      if (assignment) {
        story.ran('worker', 'a')
        await survivor.complete(assignment)
      }
      return judged(story)
    }

    test('broken', async () => {
      const node = await start((sound) => ({
        steps: {
          step: async (step) => {
            const answer = await sound.steps.step({ ...step, submissions: [] })
            const submissions = step.submissions.map(({ jobs }) => ({
              results: jobs.map((_, at) => ({ kind: 'created' as const, id: at + 1 })),
              isPublished: true,
              isOpen: true,
            }))
            return { ...answer, submissions }
          },
        },
      }))
      expect((await tell(node)).lost).toEqual(['a, begun 0 times'])
    })

    test('sound', async () => {
      expect(violationsOf(await tell(await start()))).toEqual([])
    })
  })

  describe('finds the effect of a disabled reaper: a dead node keeps its jobs', () => {
    /** Settles when the survivor has had its chance to put the job back. */
    const tell = async (
      survivor: SmallNode,
      hadItsChance: () => Promise<Assignment | undefined>,
    ): Promise<Verdict> => {
      const mortal = await start()
      const story = new Story().submitted('a')
      await mortal.submit('a')
      await taken(mortal)
      await kill(mortal)
      const assignment = await hadItsChance()
      if (assignment) {
        story.ran('worker', 'a')
        await survivor.complete(assignment)
      }
      return judged(story)
    }

    test('broken', async () => {
      let beats = 0
      const survivor = await start((sound) => ({
        nodes: {
          beat: async () => {
            const reply = await sound.nodes.beat()
            beats += 1
            return { ...reply, heartbeats: new Map() }
          },
        },
      }))
      const verdict = await tell(survivor, async () => {
        await vi.waitUntil(() => beats > 6, soon)
        return survivor.take()
      })
      expect(verdict.stuck).toContain('a (mail 1, busy) is in busy')
    })

    test('sound', async () => {
      const survivor = await start()
      expect(violationsOf(await tell(survivor, () => taken(survivor)))).toEqual([])
    })
  })
})
