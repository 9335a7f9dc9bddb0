import { buildGateway, bundleGateway } from '@crossgear/tools/gateway-program'

export default function build(): void {
  buildGateway()
  bundleGateway()
}
