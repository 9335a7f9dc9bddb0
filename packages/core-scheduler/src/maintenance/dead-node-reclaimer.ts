import type { NodeContext } from '../node/node-context.ts'
import { inTurn } from '../node/background-tasks.ts'
import type { LeaseHolders } from './lease-holders.ts'

interface Parts extends NodeContext {
  readonly holders: LeaseHolders
}

/** Requeues the jobs of dead nodes in the background, so that heartbeats go on. */
export class DeadNodeReclaimer {
  readonly #parts: Parts
  /** Lanes that are left, by node, until the store knows that its reclaim has ended. */
  readonly #left = new Map<string, readonly string[]>()
  #running: Promise<void> | undefined
  readonly #unsubscribe: (() => void)[] = []

  constructor(parts: Parts) {
    const { events } = parts
    this.#parts = parts
    this.#unsubscribe.push(
      events.on('deadNodes', (nodes) => this.#reclaimAll(nodes)),
      events.on('unknownNodes', (nodes) => this.#run(nodes.map((node) => this.#reclaimOf(node)))),
    )
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe()
  }

  /** Resolves when the work in progress is done. */
  idle(): Promise<void> {
    return this.#running ?? Promise.resolve()
  }

  /** Nodes skipped while others are being reclaimed are named again by the next beat. */
  #reclaimAll(nodes: readonly string[]): void {
    const returned = [...this.#left.keys()].filter((node) => !nodes.includes(node))
    const ends = returned.map((node) => () => this.#end(node, false))
    this.#run([...ends, ...nodes.map((node) => this.#reclaimOf(node))])
  }

  #run(tasks: readonly (() => Promise<void>)[]): void {
    const { observer } = this.#parts
    this.#running ??= inTurn(tasks)
      .catch((error: unknown) => observer.error('dead nodes', error))
      .finally(() => (this.#running = undefined))
  }

  #reclaimOf(node: string): () => Promise<void> {
    return () => this.#reclaim(node)
  }

  async #reclaim(node: string): Promise<void> {
    const { store, registry, wakeups, retryPolicy, holders, observer } = this.#parts
    if (!(await store.nodes.declareDead(node))) return
    const lanes = this.#left.get(node) ?? [...registry.all()]
    this.#left.set(node, lanes)
    const loss = retryPolicy.ofLoss()
    const { woken, requeued, refused, consumed, dropped } = await store.nodes.reclaim(
      node,
      lanes,
      loss,
    )
    const jobs = { requeued, dropped: dropped.length, kept: consumed.length }
    // Lanes whose server is away are tried again with each beat.
    if (refused.size === 0 || requeued + dropped.length > 0) observer.reclaimed(node, jobs)
    for (const lane of woken) wakeups.wake(lane, 1)
    for (const job of dropped) observer.dropped(job)
    await holders.reclaimed(consumed)
    this.#left.set(node, [...refused.keys()])
    const [refusal] = refused.values()
    if (!refusal) return this.#end(node, true)
    await store.nodes.endReclaim(node, false)
    throw refusal
  }

  async #end(node: string, isComplete: boolean): Promise<void> {
    await this.#parts.store.nodes.endReclaim(node, isComplete)
    this.#left.delete(node)
  }
}
