import { Decoder, encodeRequest } from '@crossgear/gearman-codec'
import type { Argument, Packet, RequestName, TextLine } from '@crossgear/gearman-codec'
import { Link } from '../link.ts'

export type GearmanMessage = Packet | TextLine
export type GearmanLink = Link<GearmanMessage>

export function openGearman(port: number): Promise<GearmanLink> {
  return Link.open(port, new Decoder())
}

export function sayGearman(
  link: GearmanLink,
  name: RequestName,
  ...args: readonly Argument[]
): void {
  link.send(encodeRequest(name, ...args))
}

/** One argument of a packet as text. */
export function argumentOf(message: GearmanMessage, at: number): string {
  return message.name === 'TEXT' ? message.line : (message.args[at]?.toString() ?? '')
}
