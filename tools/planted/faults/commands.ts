import type { FaultTable } from '../planted-fault.ts'

export const faults: FaultTable = {
  'changed-backup-is-restored': {
    promise: 'A backup whose lines were changed on its way is refused.',
    file: 'packages/migration/src/backup/whole-file.ts',
    from: "sha256 === undefined ? head.kind === 'backup' : sha256 === sum.digest('hex')",
    to: "sha256 !== 'other'",
    test: 'apps/gateway/test/commands/backup/backup.system.test.ts',
    testName: 'from a pipe that was cut or changed restores nothing',
  },
  'unread-backup-is-a-good-one': {
    promise: 'A backup whose reader went away ends with a code of its own.',
    file: 'apps/gateway/src/main.ts',
    from: 'works.includes(process.argv[2]) ? 4 : 0',
    to: 'works.includes(process.argv[2]) ? 0 : 0',
    test: 'apps/gateway/test/commands/full-output.system.test.ts',
    testName: 'a backup to a pipe or a disk that takes no more is none',
  },
  'locked-file-ends-a-run': {
    promise: 'A migration waits for another program that has its SQLite file locked.',
    file: 'packages/migration/src/sources/gearmand/sqlite-file.ts',
    from: "if (lineOf(error) !== 'database is locked') throw error",
    to: "if (lineOf(error) !== 'another') throw error",
    test: 'packages/migration/test/sources/gearmand-sqlite.system.test.ts',
    testName: 'a run goes on when another program is done with the file',
  },
  'wal-is-not-read': {
    promise: 'A SQLite file in WAL mode is read with the changes that are beside it.',
    file: 'packages/migration/src/sources/gearmand/gearmand-sqlite.ts',
    from: "if (isWal) db.exec('PRAGMA locking_mode = EXCLUSIVE')",
    to: "if (isWal) db.exec('PRAGMA locking_mode = NORMAL')",
    test: 'packages/migration/test/sources/gearmand-sqlite.system.test.ts',
    testName: 'a file in WAL mode is read with the changes beside it, which stay there',
  },
  'silent-count-of-jobs': {
    promise: 'An act on many jobs shows at the terminal how far it is.',
    file: 'apps/gateway/src/commands/terminal/jobs/acts.ts',
    from: 'if (stderr.isTTY) stderr.write',
    to: 'if (!stderr.isTTY) stderr.write',
    test: 'apps/gateway/test/commands/terminal/commands.test.ts',
    testName:
      'an act on many jobs shows at the terminal how far it is, while it counts and after the yes',
  },
}
