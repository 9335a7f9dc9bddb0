import type { Socket } from 'node:net'
import { oneLine } from '../errors.ts'
import type { FaktoryNews, PeerProcesses } from '../faktory/context.ts'
import type { HandedConnection, Orders, Task, ToChild, ToParent } from './messages.ts'

/** Events from a process's parent. */
export interface ParentEvents {
  readonly start: (task: Task) => void
  readonly connection: (connection: HandedConnection, socket: Socket | undefined) => void
  /** The process is to end; true: its parent has died. */
  readonly end: (isOrphan: boolean) => void
}

/** A process's side of the channel to its parent. */
export class ParentLink implements PeerProcesses {
  #orders: Orders | undefined
  #onNews: (news: FaktoryNews) => void = () => undefined

  constructor(events: ParentEvents) {
    process.on('message', (message: ToChild, socket?: Socket) => {
      if (message.what === 'start') events.start(message.task)
      else if (message.what === 'connection') events.connection(message, socket)
      else if (message.what === 'news') this.#onNews(message.news)
      else if (message.what === 'order') void this.#obey(message)
      else events.end(false)
    })
    process.on('disconnect', () => events.end(true))
  }

  /** Requests are carried out from now on. */
  obeyWith(orders: Orders): void {
    this.#orders = orders
  }

  /** Does nothing if the parent has died. */
  send(message: ToParent): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
  }

  /** Resolves once the message was sent. */
  sendLast(message: ToParent): Promise<void> {
    return new Promise((resolve) => {
      if (process.connected) process.send?.(message, undefined, undefined, () => resolve())
      else resolve()
    })
  }

  notify(news: FaktoryNews): void {
    this.send({ what: 'news', news })
  }

  onNews(listener: (news: FaktoryNews) => void): void {
    this.#onNews = listener
  }

  async #obey({ id, name, args }: Extract<ToChild, { what: 'order' }>): Promise<void> {
    try {
      const order = this.#orders?.[name] as ((...args: readonly unknown[]) => unknown) | undefined
      if (!order) throw new Error('not ready yet')
      this.send({ what: 'answer', id, value: await order(...args) })
    } catch (error) {
      this.send({ what: 'refusal', id, message: oneLine(error) })
    }
  }
}
