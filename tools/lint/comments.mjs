/** Openers that leave the subject of a comment to its middle or end. */
const opener =
  /^(?:Its|What|Who|Whose|Whom|Whoever|Whatever|Those|Whether|Where|So many|So long|For so long)\b/

/** The prose of a comment: without its tags, and without drawings and wire forms, which are indented. */
function proseOf(text) {
  const lines = text.split('\n').map((line) => line.replace(/^\s*\*? ?/, ''))
  const tags = lines.findIndex((line) => line.startsWith('@'))
  return (tags < 0 ? lines : lines.slice(0, tags)).filter(
    (line) => line.trim() !== '' && !line.startsWith('    '),
  )
}

const eachComment = (report) => ({
  create: (context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        const prose = proseOf(comment.value.replace(/^\*/, ''))
        const message = report(prose, comment)
        if (message) context.report({ loc: comment.loc, message })
      }
    },
  }),
})

const subject = eachComment(([first = '']) =>
  opener.test(first.trim()) ? 'Begin the comment with its subject.' : undefined,
)
export default { meta: { name: 'comments' }, rules: { subject } }
