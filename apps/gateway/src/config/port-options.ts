import { hostname } from 'node:os'
import { type DoorName, doors } from '../doors/table.ts'
import { handlePrefix, maxPrefixBytes } from '../doors/gearman/handles.ts'
import { readHostNames } from '../doors/net/foreign-requests.ts'
import { readNetworks } from '../doors/net/networks.ts'
import {
  checkedText,
  inGroup,
  optional,
  password,
  portOr,
  type Setting,
  text,
  whole,
  yesNo,
} from './value-kinds.ts'

const hostPrefix = handlePrefix(`H:${hostname()}`)

const hostText = text(
  'an address of this machine, such as 127.0.0.1, or * for all of them',
  /^(\*|[\w.:%-]+)$/,
)

const headerName = text(
  'the name of a header, such as X-Forwarded-User',
  /^[\w!#$%&'*+.^`|~-]{1,64}$/,
)

const networks = checkedText(
  'addresses or networks such as 10.0.0.0/8, with commas between them',
  (list) => readNetworks(list) !== undefined,
)

type DoorPort = `${DoorName}Port`

const doorPorts = Object.fromEntries(
  doors.map(({ name, port: { help, fallback } }) => [
    `${name}Port`,
    { ...portOr(['off'], fallback), help },
  ]),
) as Readonly<Record<DoorPort, Setting<number | 'off'>>>

/** The options of all ports. */
export const portNames: readonly (DoorPort | 'webPort')[] = [
  ...doors.map(({ name }) => `${name}Port` as const),
  'webPort',
]

/** The ports, and who may do what there. */
export const portOptions = inGroup('Doors', {
  host: {
    argument: 'address',
    value: hostText,
    fallback: '127.0.0.1',
    help: 'address for every door to listen on; * is every address of the machine',
  },
  ...doorPorts,
  webPort: {
    ...portOr(['off'], 7420),
    help: 'port for the dashboard (docs/operate/dashboard.md), /metrics (docs/reference/metrics.md), /healthz, /readyz and the admin API (docs/reference/api.md), or off',
  },
  webHost: {
    ...optional('address', hostText, 'that of --host'),
    help: 'address for the web port to listen on, where it differs from that of the other doors; * is every address of the machine',
  },
  faktoryPassword: {
    ...password,
    help: 'password of the Faktory port; /path names a file that holds it',
    alsoEnv: ['FAKTORY_PASSWORD'],
  },
  faktoryPasswordTries: {
    ...whole('n', 0, 1_000_000, 10),
    help: 'wrong passwords per minute and address, before the Faktory port rejects that address for the rest of the minute; 0: any number',
  },
  faktoryOpen: {
    ...yesNo,
    help: 'let the Faktory port listen beyond this machine without a password',
  },
  webPassword: {
    ...password,
    help: "the operator's password for /api/v1 on the web port, without which nothing can be changed there; /path names a file that holds it",
  },
  webReaderPassword: {
    ...password,
    help: 'password of those who only read there; /path names a file that holds it; this machine reads without one',
  },
  webPasswordTries: {
    ...whole('n', 0, 1_000_000, 10),
    help: 'wrong passwords per minute and address, beyond which the web port checks only as many passwords of that address in a minute, spread over it; 0: any number',
  },
  webUserHeader: {
    ...optional('name', headerName),
    help: 'header in which a trusted proxy names who sends a request to the web port; with --web-role-header and --web-proxy-from',
    reloads: true,
  },
  webRoleHeader: {
    ...optional('name', headerName),
    help: 'header in which that proxy says what they may do: view, operate or admin',
    reloads: true,
  },
  webProxyFrom: {
    ...optional('list', networks),
    help: 'comma-separated addresses and networks of proxies before the web port: headers that name people, and X-Forwarded-For with the address of the client, count from there alone',
    reloads: true,
  },
  webOpen: {
    ...yesNo,
    help: 'let other machines read on the web port without a password, and let it listen beyond this machine without one',
  },
  handlePrefix: {
    argument: 'text',
    value: text(
      `1 to ${maxPrefixBytes} printable ASCII characters without blanks`,
      new RegExp(`^[!-~]{1,${maxPrefixBytes}}$`),
    ),
    fallback: hostPrefix,
    shownFallback: 'H:<host name>',
    help: 'prefix of Gearman job handles',
  },
  adminFrom: {
    ...optional('list', networks),
    help: 'comma-separated addresses and networks, besides this machine, that may use Gearman text commands that change something, and FLUSH on the Faktory port',
  },
  allowedHosts: {
    ...optional(
      'list',
      checkedText(
        'names such as jobs.example.org, with commas between them, or *',
        (list) => readHostNames(list) !== undefined,
      ),
    ),
    help: 'comma-separated names that the web and HTTP ports accept in the header Host; they always accept addresses, localhost and the name of --host; * is any name',
  },
})
