import { EventEmitter } from 'node:events'
import type { Watched } from '@crossgear/core-scheduler'
import type { Redis } from 'ioredis'
import { beforeEach, describe, expect, test } from 'vitest'
import { Events } from '../../src/connection/events.ts'
import type { RedisContext } from '../../src/connection/redis-context.ts'
import { StoreKeys } from '../../src/keys.ts'

const promisesSettled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A connection that answers each change of its subscriptions when told to. */
class SubscribingRedis extends EventEmitter {
  readonly status = 'ready'
  /** Changes in progress, as the server gets them. */
  readonly asked: string[] = []
  readonly #answers: (() => void)[] = []

  subscribe = this.#change('subscribe')
  readonly unsubscribe = this.#change('unsubscribe')
  readonly psubscribe = this.#change('psubscribe')
  readonly punsubscribe = this.#change('punsubscribe')

  /** The server's answer to the change in progress. */
  async answer(): Promise<void> {
    this.asked.length = 0
    this.#answers.shift()?.()
    await promisesSettled()
  }

  #change(name: string) {
    return (...channels: readonly string[]): Promise<void> => {
      this.asked.push(`${name} ${channels.join(' ')}`)
      return new Promise((resolve) => this.#answers.push(resolve))
    }
  }
}

describe('a gateway that listens to lanes', () => {
  let redis: SubscribingRedis
  let events: Events
  beforeEach(() => {
    redis = new SubscribingRedis()
    const call = (run: () => Promise<void>): Promise<void> => run()
    const context = { keys: new StoreKeys(), node: 'n1', call } as unknown as RedisContext
    events = new Events(redis as unknown as Redis, context)
  })

  /** The lanes whose news it counts on, of these. */
  const heard = (...lanes: readonly string[]) => lanes.filter((lane) => events.isListening(lane))

  /** Lets a change begin; the result tells when it is done. */
  async function begin(what: Watched): Promise<{ readonly done: Promise<void> }> {
    const done = events.watch(what)
    await promisesSettled()
    return { done }
  }

  async function watch(...lanes: readonly string[]): Promise<void> {
    const { done } = await begin(new Set(lanes))
    await redis.answer()
    await done
  }

  test('counts on their news once the server has confirmed it', async () => {
    const watching = await begin(new Set(['mail']))
    expect(redis.asked).toEqual(['subscribe channel:mail xg:news:0:mail'])
    expect(heard('mail')).toEqual([])
    await redis.answer()
    await watching.done
    expect(heard('mail', 'sms')).toEqual(['mail'])
  })

  test('counts on no news of a lane that is being left: others are the only listeners from then on', async () => {
    await watch('mail', 'sms')
    const leaving = await begin(new Set(['sms']))
    expect(redis.asked).toEqual(['unsubscribe channel:mail xg:news:0:mail'])
    expect(heard('mail', 'sms')).toEqual(['sms'])
    await redis.answer()
    await leaving.done
    expect(heard('mail', 'sms')).toEqual(['sms'])
  })

  test('subscribes before it unsubscribes', async () => {
    await watch('mail', 'sms')
    const changing = await begin(new Set(['sms', 'fax']))
    expect(redis.asked).toEqual(['subscribe channel:fax xg:news:0:fax'])
    expect(heard('mail', 'sms', 'fax')).toEqual(['sms'])
    await redis.answer()
    expect(redis.asked).toEqual(['unsubscribe channel:mail xg:news:0:mail'])
    await redis.answer()
    await changing.done
    expect(heard('mail', 'sms', 'fax')).toEqual(['sms', 'fax'])
  })

  test('takes the pattern first and leaves it last, so that each event reaches it', async () => {
    await watch('mail')
    const widening = await begin('all')
    const asked: string[] = []
    const answer = async (): Promise<void> => {
      asked.push(...redis.asked)
      await redis.answer()
    }
    for (let at = 0; at < 3; at += 1) await answer()
    await widening.done
    const narrowing = await begin(new Set(['mail']))
    for (let at = 0; at < 3; at += 1) await answer()
    await narrowing.done
    expect(asked).toEqual([
      'psubscribe channel:**',
      'subscribe xg:news:0',
      'unsubscribe channel:mail xg:news:0:mail',
      'subscribe channel:mail xg:news:0:mail',
      'unsubscribe xg:news:0',
      'punsubscribe channel:**',
    ])
  })

  test('repeats all of a change that failed', async () => {
    const subscribe = redis.subscribe
    redis.subscribe = () => Promise.reject(new Error('away'))
    await expect(events.watch(new Set(['mail']))).rejects.toThrow('away')
    expect(heard('mail')).toEqual([])
    redis.subscribe = subscribe
    const watching = await begin(new Set(['mail']))
    expect(redis.asked).toEqual(['subscribe channel:mail xg:news:0:mail'])
    await redis.answer()
    await watching.done
    expect(heard('mail')).toEqual(['mail'])
  })
})
