import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { type Lacking, lacksUnless } from '@crossgear/tools/lacks'

const libraries = ['-rjson', '-rsidekiq', '-rsidekiq/api', '-rsidekiq/job_retry']

/** True where Debian's ruby-sidekiq is not installed; in CI never. */
export const lacksSidekiq: Lacking = lacksUnless(
  'ruby-sidekiq',
  () => spawnSync('ruby', [...libraries, '-e', '']).status === 0,
)

/** Runs Ruby with the real Sidekiq on a Redis; its output. */
export async function withSidekiq(url: string, script: string): Promise<string> {
  const env = { ...process.env, REDIS_URL: url, RUBYOPT: '-EUTF-8:UTF-8', LC_ALL: 'C.UTF-8' }
  const quiet = `Sidekiq.logger.level = Logger::ERROR\n${script}`
  return (await promisify(execFile)('ruby', [...libraries, '-e', quiet], { env })).stdout
}
