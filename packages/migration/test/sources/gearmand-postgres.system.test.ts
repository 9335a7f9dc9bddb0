import { test } from 'vitest'
import { gearmandSqlContract, testOthersAreReported } from '../support/gearmand-sql-contract.ts'
import { lacksPostgres, Postgres } from '../support/postgres.ts'
import { expectRefusal } from '../support/source-contract.ts'

let server: Postgres

async function start() {
  server = await Postgres.start()
  const connection = `host=127.0.0.1 port=${server.port} user=gear dbname=postgres`
  return {
    words: ['-q', 'Postgres', '--libpq-conninfo', connection, '--libpq-table', 'queue'],
    address: `gearmand+postgres://gear:secret@127.0.0.1:${server.port}/postgres`,
    table: 'queue',
    columns:
      "function_name, trim(trailing E'\\x01' from unique_key), priority, when_to_run, md5(coalesce(data, ''))",
    sql: (text: string) => server.sql(text),
    keep: () => void server.sql('CREATE TABLE written AS SELECT * FROM queue'),
    refill: 'TRUNCATE queue; INSERT INTO queue SELECT * FROM written',
    stop: () => server.stop(),
  }
}

gearmandSqlContract(
  'needs gearmand, redis-server and PostgreSQL: gearmand+postgres',
  lacksPostgres,
  start,
  (queue) => {
    testOthersAreReported(queue)

    test.each([
      ['PORT/none', 'database "none" does not exist'],
      ['PORT/postgres?table=x', 'has no table x'],
      ['1/postgres', 'ECONNREFUSED'],
    ])('gearmand+postgres://gear:wrong@127.0.0.1:%s: one clear line', async (place, line) => {
      const address = `gearmand+postgres://gear:wrong@127.0.0.1:${place}`
      await expectRefusal(address.replace('PORT', String(server.port)), 'UNREACHABLE', line)
    })
  },
)
