import type { NodeParts } from '../node/node-parts.ts'

/** A node that does not answer within this time counts as silent, milliseconds. */
export const nodeAnswerMs = 1_000
/** Longest answer that is sent, in characters: it passes through the store's channels. */
const maxAnswerLength = 2 * 1024 * 1024

interface Pending {
  readonly nodes: Set<string>
  readonly answers: Map<string, string>
  readonly settle: () => void
}

type Parts = Pick<NodeParts, 'store' | 'clock' | 'observer' | 'events'>

/** Asks other nodes for what only they know, and answers them. Nothing of it is stored. */
export class NodeQuestions {
  readonly #parts: Parts
  readonly #pending = new Map<number, Pending>()
  #answer: (question: string) => string | undefined = () => undefined
  #number = 0

  constructor(parts: Parts) {
    this.#parts = parts
    const { events } = parts
    events.on('asked', (node, number, question) => this.#asked(node, number, question))
    events.on('answered', (node, number, answer) => this.#answered(node, number, answer))
  }

  /** Answers questions of other nodes, and of this one; undefined: no answer. */
  answerWith(answer: (question: string) => string | undefined): void {
    this.#answer = answer
  }

  /** The answers of these nodes; without those that are gone, silent, or do not know the question. */
  async ask(nodes: readonly string[], question: string): Promise<ReadonlyMap<string, string>> {
    const { store, clock } = this.#parts
    const answers = new Map<string, string>()
    const others = new Set(nodes)
    if (others.delete(store.node)) {
      const own = this.#answer(question)
      if (own !== undefined) answers.set(store.node, own)
    }
    if (others.size === 0) return answers
    this.#number += 1
    const number = this.#number
    await new Promise<void>((resolve) => {
      const cancel = clock.after(nodeAnswerMs, resolve)
      const settle = (): void => {
        cancel()
        resolve()
      }
      this.#pending.set(number, { nodes: others, answers, settle })
      for (const node of Array.from(others)) void this.#send(node, number, question)
    })
    this.#pending.delete(number)
    return answers
  }

  /** Another node asks. */
  async #asked(node: string, number: number, question: string): Promise<void> {
    const { store, observer } = this.#parts
    try {
      const answer = this.#answer(question)
      if (answer === undefined || answer.length > maxAnswerLength) return
      await store.events.send(node, 'answer', number, answer)
    } catch (error) {
      observer.error('answer a node', error)
    }
  }

  #answered(node: string, number: number, answer: string): void {
    const pending = this.#pending.get(number)
    if (!pending?.nodes.delete(node)) return
    pending.answers.set(node, answer)
    if (pending.nodes.size === 0) pending.settle()
  }

  async #send(node: string, number: number, question: string): Promise<void> {
    const isThere = await this.#parts.store.events
      .send(node, 'ask', number, question)
      .catch(() => false)
    const pending = this.#pending.get(number)
    if (!isThere && pending?.nodes.delete(node) && pending.nodes.size === 0) pending.settle()
  }
}
