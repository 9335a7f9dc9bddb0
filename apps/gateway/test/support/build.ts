import { buildGateway } from '@crossgear/tools/gateway-program'

export default buildGateway
