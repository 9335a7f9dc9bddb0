import type { PacketName } from '@crossgear/gearman-codec'
import { GearmanPeer } from './gearman-peer.ts'

/** Packets about a job, without its handle. */
type Answers = readonly (readonly [name: PacketName, data: string])[]

/** A worker that answers each job of a function until it leaves; the payloads that it got. */
export async function workingPeer(
  port: number,
  fn: string,
  answersTo: (payload: string) => Answers,
) {
  const peer = await GearmanPeer.connect(port)
  const got: string[] = []
  peer.send('CAN_DO', fn).send('GRAB_JOB')
  const loop = async (): Promise<void> => {
    for (;;) {
      const [name, handle = '', , payload = ''] = await peer.receive()
      if (name === 'NO_JOB') peer.send('PRE_SLEEP')
      else if (name === 'NOOP') peer.send('GRAB_JOB')
      else if (name === 'JOB_ASSIGN') {
        got.push(payload)
        for (const [answer, data] of answersTo(payload)) peer.send(answer, handle, data)
        peer.send('GRAB_JOB')
      }
    }
  }
  void loop()
  return { peer, got }
}
