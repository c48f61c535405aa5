// The inside of a database: the extensions that its owner may create, and logins that write.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { connectTo, endOf, makeDatabase, until, urlOfRole, withClient } from './driver.ts'

product(PLAIN)

const NAME = 'inside'
/** Trusted by PostgreSQL itself, by the overlay of pgvector, and by Ergon. */
const SERVED =
  `vector autoinc bloom btree_gin btree_gist citext cube dict_int fuzzystrmatch hstore insert_username
  intarray isn lo ltree moddatetime pg_trgm pgcrypto pgrowlocks seg tablefunc tcn tsm_system_rows tsm_system_time
  unaccent uuid-ossp`.split(/\s+/)

let owner: URL
before(async () => {
  owner = await makeDatabase(sharedErgon(), NAME)
})

type Shown = {
  readonly postgres_version: string
  readonly vector_version: string
  readonly extensions: readonly { readonly name: string; readonly version: string }[]
}
const shown = async (): Promise<Shown> =>
  JSON.parse((await sharedErgon().cli('db', 'show', NAME, '--json')).stdout) as Shown

test('the owner creates the extensions of the list, and db show has their versions', async () => {
  await withClient(owner, async (client) => {
    for (const name of SERVED) await client.query(`create extension "${name}" cascade`)
    const { rows } = await client.query<{ name: string }>(
      `select name from pg_available_extensions
       where comment not like 'not served%' and installed_version is null order by name`,
    )
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['amcheck', 'pg_stat_statements'],
    )
    await client.query('create table t (id int, changed timestamp)')
    await client.query(
      `create trigger touched before update on t for each row execute function moddatetime(changed)`,
    )
    await client.query('create index on t using bloom (id)')
    await client.query('insert into t values (1, null); update t set id = 2')
    const { rows: changed } = await client.query('select from t where changed is not null')
    assert.equal(changed.length, 1)
  })
  await until('the extensions are seen', async () => (await shown()).extensions.length > 1)
  const { postgres_version: postgres, vector_version: vector, extensions } = await shown()
  assert.match(postgres, /^16\.\d+$/)
  assert.deepEqual(
    extensions.find(({ name }) => name === 'vector'),
    { name: 'vector', version: vector },
  )
  assert.match((await sharedErgon().cli('db', 'show', NAME)).stdout, /^extensions +autoinc 1\.0, /m)
})

test('tables of a login that writes belong to all, after DISCARD ALL and after its deletion too', async () => {
  const ergon = sharedErgon()
  const made = await ergon.cli('db', 'role', 'create', NAME, 'app')
  assert.equal(made.code, 0, made.stderr)
  assert.match((await ergon.cli('db', 'role', 'list', NAME)).stdout, /^app .* all$/m)
  const app = await urlOfRole(ergon, NAME, 'app')
  assert.notEqual(app.username, owner.username)
  await until('the login is there', () =>
    withClient(app, async () => true).catch((error: { code?: string }) => {
      assert.equal(error.code, '57P03')
      return false
    }),
  )
  await withClient(app, async (client) => {
    await client.query('create table of_app (id int)')
    await client.query('discard all')
    await client.query('create table of_app_later (id int)')
  })
  await withClient(owner, (client) =>
    client.query(
      'alter table of_app add column more int; alter table of_app_later add column more int',
    ),
  )
  // A kept backend serves the next client.
  await withClient(app, (client) => client.query('alter table of_app drop column more'))
  const client = await connectTo(app)
  const ended = endOf(client)
  const owners = await connectTo(owner)
  assert.equal((await ergon.cli('db', 'role', 'delete', NAME, 'app')).code, 0)
  assert.equal((await ended).code, '57P01')
  await owners.query('drop table of_app, of_app_later')
  await owners.end()
  await until('the login is refused', () =>
    withClient(app, async () => false).catch(({ code }: { code?: string }) => code === '28P01'),
  )
})
