// The steps of a restore, as the state keeps them and the API shows them: the copy, the log, the checks.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { makeDatabase, withClient } from './driver.ts'

product(PLAIN)

const NAME = 'stepped'
const COPY = 'stepped-copy'

before(async () => {
  const url = await makeDatabase(sharedErgon(), NAME)
  await withClient(url, (client) => client.query('create table kept as select 1 as id'))
  const saved = await sharedErgon().cli('db', 'backup', 'create', NAME)
  assert.equal(saved.code, 0, saved.stderr)
})

const stepOf = async (name: string): Promise<string | undefined> => {
  const { baseUrl, token } = sharedErgon()
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${baseUrl}/v1/databases/${name}`, { headers })
  return ((await answer.json()) as { restore: { step: string } | null }).restore?.step
}

test('a clone is copied, its log is replayed, its tables are read, in this order', async () => {
  const ergon = sharedErgon()
  await ergon.sql('create table seen_steps (number serial, status text, is_recovered boolean)')
  await ergon.sql(`create function note_step() returns trigger language plpgsql as $$ begin
    insert into seen_steps (status, is_recovered) values (new.status, new.is_recovered);
    return null; end $$`)
  await ergon.sql(
    'create trigger note_step after update on database_restores for each row execute function note_step()',
  )
  try {
    const made = await ergon.cli('db', 'clone', NAME, COPY)
    assert.equal(made.code, 0, made.stderr)
  } finally {
    await ergon.sql('drop trigger note_step on database_restores; drop function note_step')
  }
  const rows = await ergon.sql('select status, is_recovered from seen_steps order by number')
  const seen = rows.map((row) => `${row['status']} ${row['is_recovered']}`)
  assert.deepEqual(
    seen.filter((one, index) => one !== seen[index - 1]),
    ['running false', 'unpacked false', 'unpacked true', 'done true'],
  )
  await ergon.sql('drop table seen_steps')
})

test('the API names the step of a restore under way, and none of one that is done', async () => {
  const ergon = sharedErgon()
  const setTo = (status: string, isRecovered: boolean) =>
    ergon.sql(
      `update database_restores set status = $1, is_recovered = $2
       where database = (select id from resources where name = $3)`,
      [status, isRecovered, COPY],
    )
  for (const [status, isRecovered, step] of [
    ['running', false, 'copy'],
    ['unpacked', false, 'log'],
    ['unpacked', true, 'checks'],
    ['done', true, undefined],
  ] as const) {
    await setTo(status, isRecovered)
    assert.equal(await stepOf(COPY), step, status)
  }
})
