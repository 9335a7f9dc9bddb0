// `npm run release -- 0.2.0 [--dry-run]`: gives all packages this version, and CHANGELOG.md the subjects of the
// commits since the last one. A dry run prints both and changes nothing.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = join(root, 'CHANGELOG.md')
const heading = '# Changes\n'

/** @param {readonly string[]} words */
function git(words) {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
}

/** @param {string} version */
function section(version) {
  const tags = git(['tag', '--list', 'v*', '--sort=-v:refname', '--merged']).split('\n')
  const range = tags[0] ? [`${tags[0]}..HEAD`] : []
  const subjects = git(['log', '--no-merges', '--format=- %s', ...range])
  return `## ${version} (${git(['log', '-1', '--format=%cs'])})\n\n${subjects}\n`
}

const [version = '', ...options] = process.argv.slice(2)
const isDry = options.includes('--dry-run')
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
  console.error('Name the version: npm run release -- 1.2.3 [--dry-run]')
  process.exit(2)
}
const changes = section(version)
const words = ['release', 'version', version, ...(isDry ? ['--dry-run'] : [])]
execFileSync(join(root, 'node_modules/.bin/nx'), words, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, NX_DAEMON: 'false' },
})
if (isDry) console.log(`CHANGELOG.md:\n\n${changes}`)
else {
  const before = existsSync(page) ? readFileSync(page, 'utf8').replace(heading, '') : ''
  writeFileSync(page, `${heading}\n${changes}${before}`)
}
