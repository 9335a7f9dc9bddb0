import fs from 'node:fs'
import path from 'node:path'

const table = new URL('../../apps/gateway/src/doors/table.ts', import.meta.url)

/** The folders of the doors in the order of their table: a new one needs its row alone. */
function doorFolders() {
  const text = fs.readFileSync(table, 'utf8')
  const imports = text.matchAll(/^import \{ (\w+) \} from '\.\/([\w-]+)\/[\w-]+-row\.ts'$/gm)
  const folders = new Map(Array.from(imports, ([, row, folder]) => [row, `doors/${folder}`]))
  const [, rows = ''] = /^export const doors = \[([^\]]*)\]/m.exec(text) ?? []
  return rows.split(',').flatMap((row) => folders.get(row.trim()) ?? [])
}

/** By source tree, its folders and the files at its top: each imports only those before it, types included. Those of one list do not import each other. A folder inside a room has a place of its own where it is named. */
const orders = {
  'apps/gateway/src': [
    'errors.ts',
    'in-pieces.ts',
    'json.ts',
    'doors/net',
    'doors/outgoing',
    'bridge',
    ...doorFolders(),
    'doors',
    'config',
    'config/log',
    'store',
    'web/dashboard',
    'operations',
    ['doors/push', 'operations/notices'],
    'web/api',
    'web',
    'server',
    'commands/cli',
    'commands/migrate',
    'commands/backup',
    'commands/mirror',
    'commands/password',
    'commands/terminal',
    'commands/doctor',
    'commands/faktory',
    'commands/gearmand',
    'commands',
    'main.ts',
  ],
  'packages/core-scheduler/src': [
    'clock.ts',
    'manual-clock.ts',
    'model',
    'store',
    'observer.ts',
    'node',
    'results',
    'dispatch',
    'intake',
    ['maintenance', 'admin', 'notify'],
    'scheduler-options.ts',
    'scheduler-parts.ts',
    'scheduler.ts',
    'index.ts',
  ],
  'packages/redis-store/src': [
    'embedded',
    'address.ts',
    'chunks.ts',
    'keys.ts',
    'scripts',
    'connection',
    'schema',
    'jobs',
    'step',
    'lanes',
    'cluster',
    'native',
    'nodes',
    'imports',
    'backup',
    'invariants',
    'doctor',
    'probe.ts',
    'audit.ts',
    'batches.ts',
    'cron.ts',
    'history.ts',
    'redis-store.ts',
    'index.ts',
  ],
}

/** The tree, the folder or file in it and its height: undefined for a file outside all trees. */
function placeOf(file) {
  for (const [tree, order] of Object.entries(orders)) {
    const [, inTree] = file.split(`${tree}/`)
    if (inTree === undefined) continue
    const [room, inner] = inTree.split('/')
    const heightOf = (name) => order.findIndex((names) => [names].flat().includes(name))
    const folder = `${room}/${inner}`
    const name = heightOf(folder) < 0 ? room : folder
    return { tree, name, height: heightOf(name) }
  }
  return undefined
}

const order = {
  create: (context) => {
    const here = placeOf(context.filename)
    if (!here) return {}
    const check = (source) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return
      const there = placeOf(path.resolve(path.dirname(context.filename), source.value))
      if (there?.tree !== here.tree || there.height < here.height || there.name === here.name)
        return
      const relation = there.height > here.height ? 'below' : 'next to'
      const message = `${here.name} is ${relation} ${there.name}: see the order in tools/lint/rooms.mjs.`
      context.report({ node: source, message })
    }
    return {
      Program: (node) => {
        if (here.height >= 0) return
        context.report({ node, message: `Give ${here.name} its place in tools/lint/rooms.mjs.` })
      },
      ImportDeclaration: ({ source }) => check(source),
      ExportNamedDeclaration: ({ source }) => check(source),
      ExportAllDeclaration: ({ source }) => check(source),
      ImportExpression: ({ source }) => check(source),
      TSImportType: ({ source, argument }) => check(source ?? argument?.literal),
    }
  },
}

export default { meta: { name: 'rooms' }, rules: { order } }
