/** Names of variables: `camelCase` or `PascalCase`, after one underscore at most. */
const wellFormed = /^_?[^_]*$/

/** Identifiers that a pattern names itself: `{ a_b }` takes the name of a property as it is. */
function* named(pattern) {
  if (pattern?.type === 'Identifier') yield pattern
  else if (pattern?.type === 'ArrayPattern') for (const one of pattern.elements) yield* named(one)
  else if (pattern?.type === 'AssignmentPattern') yield* named(pattern.left)
  else if (pattern?.type === 'RestElement') yield* named(pattern.argument)
  else if (pattern?.type === 'ObjectPattern') {
    for (const one of pattern.properties) if (!one.shorthand) yield* named(one.value ?? one)
  }
}

const variables = {
  create: (context) => ({
    VariableDeclarator({ id }) {
      for (const node of named(id)) {
        if (wellFormed.test(node.name)) continue
        context.report({ node, message: `Write ${node.name} in camelCase or PascalCase.` })
      }
    },
  }),
}

export default { meta: { name: 'names' }, rules: { variables } }
