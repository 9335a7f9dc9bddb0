import { beforeEach, describe, expect, test } from 'vitest'
import { nodeAnswerMs } from '@crossgear/core-scheduler'
import { Cluster, type TestNode } from '../harness.ts'

describe('questions to other nodes', () => {
  let cluster: Cluster
  let asker: TestNode
  let other: TestNode
  beforeEach(async () => {
    cluster = new Cluster()
    asker = await cluster.node('asker')
    other = await cluster.node('other')
    for (const node of [asker, other]) {
      node.scheduler.nodeQuestions.answerWith((question) =>
        question === 'strange' ? undefined : `${node.store.node}: ${question}`,
      )
    }
  })

  const nodes = () => [asker.store.node, other.store.node]

  /** The answers of the question are set once they are there. */
  function asked(names: readonly string[], question: string) {
    const found: { answers?: ReadonlyMap<string, string> } = {}
    void asker.scheduler.nodeQuestions.ask(names, question).then((answers) => {
      found.answers = answers
    })
    return found
  }

  test('are answered by each node, without waiting longer than that takes', async () => {
    const found = asked(nodes(), 'who?')
    await cluster.turn()
    expect([...(found.answers ?? [])]).toEqual(nodes().map((node) => [node, `${node}: who?`]))
  })

  test('end without a node that does not know the question, after a second', async () => {
    const found = asked(nodes(), 'strange')
    await cluster.pass(nodeAnswerMs - 1)
    expect(found.answers).toBeUndefined()
    await cluster.pass(1)
    expect([...(found.answers ?? [])]).toEqual([])
  })

  test('end at once where a node is gone', async () => {
    const found = asked([...nodes(), 'nobody'], 'who?')
    await cluster.turn()
    expect([...(found.answers?.keys() ?? [])]).toEqual(nodes())
  })
})
