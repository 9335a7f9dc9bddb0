import nx from '@nx/eslint-plugin'
import { createNodeResolver, importX } from 'eslint-plugin-import-x'
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

export default tseslint.config(
  { ignores: ['**/dist', '**/out-tsc', '**/node_modules', '.nx', '**/coverage'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    plugins: { '@nx': nx },
    languageOptions: {
      // One program: one a project would check every package again for each that imports it.
      parserOptions: { project: './tsconfig.eslint.json', tsconfigRootDir: import.meta.dirname },
    },
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
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/naming-convention': [
        'error',
        { selector: 'variable', format: ['camelCase', 'PascalCase'], leadingUnderscore: 'allow' },
        { selector: 'variable', modifiers: ['destructured'], format: null },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
    },
  },
  {
    // Browsers run these. Types are in comments.
    files: ['apps/gateway/dashboard/**/*.js'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: './apps/gateway/tsconfig.dashboard.json',
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
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
  {
    files: ['**/test/**/*.ts', '**/*.config.ts', 'tools/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // Circles of types may stand; a circle at run time is a part that cannot be loaded by itself.
    files: ['{apps,packages}/*/src/**/*.ts', 'tools/**/*.ts'],
    plugins: { 'import-x': importX },
    settings: {
      'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts'] })],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
    },
    rules: { 'import-x/no-cycle': 'error' },
  },
)
