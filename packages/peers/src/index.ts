export { FaktoryConnection, type FaktoryLogin, FaktoryRefusal } from './faktory-connection.ts'
export { GearmanConnection, refusalOf } from './gearman-connection.ts'
export { connected, type ServerPort } from './link.ts'
