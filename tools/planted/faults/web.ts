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
]
