import path from 'node:path'

/** The order of the folders of a source tree: each imports only those before it, types included. */
const orders = {
  'apps/gateway/src': [
    ...['net', 'bridge', 'gearman', 'faktory', 'http', 'doors', 'config', 'log', 'redis-server'],
    ...['dashboard', 'ops', 'api', 'web', 'server'],
    ...['cli', 'migrate', 'backup', 'mirror', 'doctor', 'terminal', 'faktory-command', 'gearmand'],
    'commands',
  ],
}

/** Files at the top of the tree: helpers below every folder, but `main.ts` above all. */
const heightOfFile = (name) => (name === 'main.ts' ? Infinity : -1)

/** The tree, the folder and its height: undefined for a file outside all trees. */
function placeOf(file) {
  for (const [tree, order] of Object.entries(orders)) {
    const [, inTree] = file.split(`${tree}/`)
    if (inTree === undefined) continue
    const [folder, ...below] = inTree.split('/')
    const height = below.length === 0 ? heightOfFile(folder) : order.indexOf(folder)
    return { tree, folder, height, isNew: below.length > 0 && height < 0 }
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
      if (there?.tree !== here.tree || there.folder === here.folder) return
      if (there.height <= here.height) return
      const message = `${here.folder} is below ${there.folder}: see the order in tools/lint/rooms.mjs.`
      context.report({ node: source, message })
    }
    return {
      Program: (node) => {
        if (here.isNew) {
          context.report({
            node,
            message: `Give ${here.folder} its place in tools/lint/rooms.mjs.`,
          })
        }
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
