import nx from '@nx/eslint-plugin'
import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

/** Modules that do I/O: codecs and the scheduler must not reach for them. */
const ioModules = [
  'net',
  'fs',
  'fs/promises',
  'http',
  'https',
  'tls',
  'dgram',
  'child_process',
  'dns',
  'os',
  'perf_hooks',
  'timers',
  'timers/promises',
  'worker_threads',
]
const withoutIo = ioModules.flatMap((name) => [name, `node:${name}`])

/** Tests are written with one of vitest's two names for them. */
const notIt = { name: 'vitest', importNames: ['it'], message: 'Use test.' }

/** Oxlint checks the code itself, with its types. Left here: what may import what, and names. */
export default defineConfig(
  { ignores: ['**/dist', '**/out-tsc', '**/node_modules', '.nx', '**/coverage'] },
  {
    files: ['**/*.ts'],
    plugins: { '@nx': nx, '@typescript-eslint': tseslint.plugin },
    // No rule reads what TypeScript makes of comments.
    languageOptions: { parser: tseslint.parser, parserOptions: { jsDocParsingMode: 'none' } },
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        {
          enforceBuildableLibDependency: true,
          // The store's own scripts: linked from source, or by the build.
          allow: ['#linked-scripts'],
          depConstraints: [
            { sourceTag: 'type:codec', onlyDependOnLibsWithTags: [] },
            { sourceTag: 'type:core', onlyDependOnLibsWithTags: [] },
            { sourceTag: 'type:testkit', onlyDependOnLibsWithTags: ['type:core'] },
            { sourceTag: 'type:gearmonkey', onlyDependOnLibsWithTags: [] },
            {
              sourceTag: 'type:store',
              onlyDependOnLibsWithTags: ['type:core', 'type:gearmonkey'],
            },
            {
              sourceTag: 'type:migration',
              onlyDependOnLibsWithTags: ['type:codec', 'type:core', 'type:store'],
            },
            {
              sourceTag: 'type:app',
              onlyDependOnLibsWithTags: ['type:codec', 'type:core', 'type:store', 'type:migration'],
            },
            {
              sourceTag: 'type:tools',
              onlyDependOnLibsWithTags: [
                'type:codec',
                'type:core',
                'type:testkit',
                'type:gearmonkey',
                'type:store',
                'type:migration',
                'type:app',
                'type:tools',
              ],
            },
          ],
        },
      ],
      '@typescript-eslint/naming-convention': [
        'error',
        { selector: 'variable', format: ['camelCase', 'PascalCase'], leadingUnderscore: 'allow' },
        { selector: 'variable', modifiers: ['destructured'], format: null },
      ],
    },
  },
  {
    // Browsers run these. Types are in comments.
    files: ['apps/gateway/dashboard/**/*.js'],
    rules: {
      // The policy of the page forbids it as well.
      'no-restricted-properties': [
        'error',
        ...['innerHTML', 'outerHTML', 'insertAdjacentHTML'].map((property) => ({ property })),
      ],
    },
  },
  {
    files: ['packages/{gearman-codec,fwp-codec,core-scheduler,store-testkit}/src/**/*.ts'],
    rules: {
      'no-restricted-imports': ['error', { paths: [...withoutIo, notIt] }],
      'no-restricted-globals': [
        'error',
        'process',
        'console',
        'performance',
        'setTimeout',
        'setInterval',
        'setImmediate',
      ],
      'no-restricted-properties': ['error', { object: 'Date', property: 'now' }],
    },
  },
  {
    // A clock for tests waits for promises.
    files: ['packages/core-scheduler/src/manual-clock.ts'],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    files: ['apps/**/src/**/*.ts', 'packages/migration/src/**/*.ts'],
    rules: { 'no-restricted-imports': ['error', { paths: ['ioredis'] }] },
  },
  {
    files: ['**/test/**/*.ts'],
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        { depConstraints: [{ sourceTag: '*', onlyDependOnLibsWithTags: ['*'] }] },
      ],
      'no-restricted-imports': ['error', { paths: [notIt] }],
    },
  },
)
