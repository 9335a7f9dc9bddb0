import { expect, test } from 'vitest'
import { gearmandSqlContract, testOthersAreReported } from '../support/gearmand-sql-contract.ts'
import { lacksMariadb, Mariadb } from '../support/mariadb.ts'
import { expectRefusal } from '../support/source-contract.ts'

let server: Mariadb

async function start() {
  server = await Mariadb.start()
  return {
    words: [
      '-q',
      'MySQL',
      '--mysql-host',
      '127.0.0.1',
      '--mysql-port',
      String(server.port),
      '--mysql-user',
      'gear',
      '--mysql-password',
      'secret',
      '--mysql-db',
      'gear',
    ],
    address: `gearmand+mysql://gear:secret@127.0.0.1:${server.port}/gear`,
    table: 'gearman_queue',
    columns:
      "function_name, TRIM(TRAILING CHAR(0) FROM unique_key), priority, when_to_run, MD5(IFNULL(data, ''))",
    sql: (text: string) => server.sql(text),
    keep: () => void server.sql('CREATE TABLE written AS SELECT * FROM gearman_queue'),
    refill: 'TRUNCATE gearman_queue; INSERT INTO gearman_queue SELECT * FROM written',
    stop: () => server.stop(),
  }
}

gearmandSqlContract(
  'needs gearmand, redis-server and MariaDB: gearmand+mysql',
  lacksMariadb,
  start,
  (queue) => {
    testOthersAreReported(queue)

    test('names that are equal in the collation stay two, and bytes stay bytes', async () => {
      server.sql('TRUNCATE gearman_queue; ALTER TABLE gearman_queue DROP INDEX unique_key')
      // Built by hand: gearmand's own index lets one of these in.
      const rows = ['u1', 'U1'].map((unique) => `('${unique}', 'Mail', 1, x'00ff', 0)`)
      server.sql(`INSERT INTO gearman_queue VALUES ${rows.join()}, ('ü', 'mail', 0, NULL, NULL)`)
      expect((await queue.move(true)).counts).toMatchObject({ created: 3, removed: 3 })
      expect(server.sql('SELECT count(*) FROM gearman_queue')).toBe('0')
      const uniques = (await queue.target.jobs('Mail')).map(({ job }) => String(job.unique))
      expect(uniques.sort()).toEqual(['U1', 'u1'])
      const [mail] = await queue.target.jobs('mail')
      expect(mail?.job).toMatchObject({
        unique: Buffer.from('ü'),
        level: 8,
        input: Buffer.alloc(0),
      })
      server.sql('CREATE UNIQUE INDEX unique_key ON gearman_queue (unique_key, function_name)')
    })

    test('a row without names is reported and left', async () => {
      server.sql('INSERT INTO gearman_queue VALUES (NULL, NULL, 1, NULL, NULL)')
      expect((await queue.move(true)).counts).toMatchObject({
        created: 200,
        rejected: 1,
        removed: 200,
      })
      expect(server.sql('SELECT count(*) FROM gearman_queue')).toBe('1')
    })

    test.each([
      ['gear:secret@127.0.0.1:PORT/none', 'UNREACHABLE', 'none'],
      ['gear:secret@127.0.0.1:PORT/gear?table=x', 'UNREACHABLE', 'has no table x'],
      ['gear:secret@127.0.0.1:PORT/gear?table=other', 'UNREACHABLE', 'has no column unique_key'],
      ['gear:wrong@127.0.0.1:PORT/gear', 'UNREACHABLE', 'Access denied'],
      ['gear@127.0.0.1:1/gear', 'UNREACHABLE', 'ECONNREFUSED'],
      ['gear@127.0.0.1:1/gear?charset=x;y', 'USAGE', 'the charset x;y'],
    ])('gearmand+mysql://%s: one clear line, without the password', async (from, code, line) => {
      server.sql('CREATE TABLE IF NOT EXISTS other (id INT)')
      await expectRefusal(
        `gearmand+mysql://${from.replace('PORT', String(server.port))}`,
        code,
        line,
      )
    })
  },
)
