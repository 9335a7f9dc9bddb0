import type { PlantedFault } from '../planted-fault.ts'

export const faults: readonly PlantedFault[] = [
  {
    name: 'proxy-counts-as-local',
    promise: 'A request with a header of a proxy has no privilege of this machine.',
    file: 'apps/gateway/src/net/local-requests.ts',
    from: 'x-forwarded(?:-.*)?',
    to: 'x-forwarded-for',
    test: 'apps/gateway/test/api/proxied-requests.test.ts',
    testName: 'nothing by any route',
  },
  {
    name: 'pages-change-for-anybody',
    promise: 'Only this machine changes something by the pages of the web port.',
    file: 'apps/gateway/src/ops/web-server.ts',
    from: 'if (isChange && !identity.isLocal)',
    to: 'if (isChange && identity.address === "")',
    test: 'apps/gateway/test/api/proxied-requests.test.ts',
    testName: 'nothing by any route',
  },
  {
    name: 'route-without-role-is-open',
    promise: 'A route of the API that names no role is the operator’s.',
    file: 'apps/gateway/src/api/routes.ts',
    from: "const { role = 'operator' } = request.routeOptions.config",
    to: "const { role = 'anyone' } = request.routeOptions.config",
    test: 'apps/gateway/test/api/proxied-requests.test.ts',
    testName: "a route of the API that names no role is the operator's",
  },
  {
    name: 'data-folder-stays-open',
    promise: 'A data folder of a former gateway is closed to other users.',
    file: 'apps/gateway/src/redis-server/private-folder.ts',
    from: '(mode & others) === 0',
    to: '(mode & 0o007) === 0 || (mode & 0o002) === 0',
    test: 'apps/gateway/test/store/private-store.test.ts',
    testName: 'closes an empty folder',
  },
  {
    name: 'foreign-data-folder-is-used',
    promise: 'A data folder that belongs to another user is refused.',
    file: 'apps/gateway/src/redis-server/private-folder.ts',
    from: 'uid !== process.geteuid()',
    to: 'uid < 0',
    test: 'apps/gateway/test/store/private-store.test.ts',
    testName: "refuses another user's folder",
  },
]
