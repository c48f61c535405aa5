// Programs of others on a database: each gets the connection string and nothing else. The drivers of Node are in
// acceptance/databases.ts.
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { missing } from '../storage/client-programs.ts'
import { makeDatabase, output, ownProgram, withoutTls } from './programs.ts'

product(PLAIN)

const NAMES = ['clients', 'clients-copy']
const INSTALLED = join(import.meta.dirname, '../../.cache/database-clients')
const PYTHON = join(INSTALLED, 'python')
const PRISMA = join(INSTALLED, 'node_modules/.bin/prisma')
/** pgvector's folder `test`, of Debian's source package where no other one is named. */
const PGVECTOR_TESTS = process.env['ERGON_PGVECTOR_TESTS'] ?? join(INSTALLED, 'pgvector/test')
const PGVECTOR_FILES = 14

const absent = (path: string): string | false =>
  existsSync(path) ? false : `not installed: test/databases/install-clients.sh`

let url = ''
let copyUrl = ''
const work = mkdtempSync(join(tmpdir(), 'ergon-database-clients-'))

before(async () => {
  const ergon = sharedErgon()
  url = await makeDatabase(ergon, NAMES[0] ?? '')
  copyUrl = await makeDatabase(ergon, NAMES[1] ?? '')
  await psql(url, 'create extension vector')
})
after(async () => {
  rmSync(work, { recursive: true, force: true })
  for (const name of NAMES) await sharedErgon().cli('db', 'delete', name, '--force')
})

/** psql of the servers' release: what it prints of a statement, or of statements on its input. */
async function psql(to: string, sql?: string, input = ''): Promise<string> {
  const words = ['-XAtq', '-v', 'ON_ERROR_STOP=1', ...(sql === undefined ? [] : ['-c', sql])]
  return await output(await ownProgram('psql'), [...words, withoutTls(to)], { input, cwd: work })
}

test(
  'psql: TLS with channel binding, variables, \\copy there and back',
  { skip: missing('psql') },
  async () => {
    writeFileSync(join(work, 'in.csv'), '1,"a, b"\n2,ü\n')
    const script = [
      '\\set name copied',
      'create table :name (id int, body text);',
      "\\copy copied from 'in.csv' csv",
      "\\copy (select * from copied order by id) to 'out.csv' csv",
      '\\conninfo',
      "select count(*) from :name where body <> :'name';",
    ].join('\n')
    const words = ['-XAtq', '-v', 'ON_ERROR_STOP=1', `${url}&channel_binding=require`]
    const said = await output('psql', words, { input: script, cwd: work })
    assert.match(said, /SSL connection \(protocol: TLSv1\.3/)
    assert.match(said, /^2$/m)
    assert.equal(readFileSync(join(work, 'out.csv'), 'utf8'), '1,"a, b"\n2,ü\n')
  },
)

test('pgbench: simple, extended and prepared, and its sums add up', async () => {
  const pgbench = await ownProgram('pgbench')
  await output(pgbench, ['-i', '-q', withoutTls(url)])
  for (const mode of ['simple', 'extended', 'prepared']) {
    const words = ['-n', '-M', mode, '-c', '4', '-t', '25', withoutTls(url)]
    const said = await output(pgbench, words)
    assert.match(said, /actually processed: 100\/100\n/)
    assert.match(said, /failed transactions: 0 /)
  }
  const said = await output(pgbench, ['-n', '-S', '-C', '-c', '2', '-t', '10', withoutTls(url)])
  assert.match(said, /actually processed: 20\/20\n/)
  const sums = await psql(
    url,
    `select (select count(*) from pgbench_history), (select sum(delta) from pgbench_history)
       = all (array[(select sum(abalance) from pgbench_accounts),
         (select sum(bbalance) from pgbench_branches), (select sum(tbalance) from pgbench_tellers)])`,
  )
  assert.equal(sums.trim(), '300|t')
})

test('pg_dump | psql: another database has the same dump afterwards', async () => {
  await psql(
    url,
    `create table kept (id serial primary key, at timestamptz default now(), data jsonb, embedding vector(3));
     create index on kept using hnsw (embedding vector_l2_ops);
     create view newest as select max(at) from kept;
     select lo_from_bytea(4711, 'large');
     create function twice(n int) returns int language sql as 'select n * 2';
     insert into kept (data, embedding) select '{"a": "\\\\ü\\n"}', array[n, 1, 2]::vector
       from generate_series(1, 100) n;`,
  )
  const words = ['--no-owner', '--no-privileges', '--restrict-key=key']
  const dump = async (from: string) =>
    await output(await ownProgram('pg_dump'), [...words, withoutTls(from)])
  const dumped = await dump(url)
  assert.match(dumped, /CREATE EXTENSION IF NOT EXISTS vector/)
  await psql(copyUrl, undefined, dumped)
  assert.equal(await dump(copyUrl), dumped)
})

const python = (script: string) =>
  output('python3', ['-c', script], {
    env: { PYTHONPATH: PYTHON, DATABASE_URL: `${url}&channel_binding=require` },
  })

test(
  'psycopg 3: a pipeline, prepared statements, a cursor of the server, COPY and NOTIFY',
  { skip: missing('python3') || absent(join(PYTHON, 'psycopg')) },
  async () => {
    const said = await python(`
import os, psycopg
with psycopg.connect(os.environ['DATABASE_URL'], autocommit=True) as db:
    db.execute('create table measured (n int, body text)')
    with db.pipeline():
        for n in range(100): db.execute('insert into measured values (%s, %s)', (n, str(n)), prepare=True)
    with db.cursor().copy('copy measured from stdin') as copy:
        for n in range(100, 1000): copy.write_row((n, 'ü'))
    with db.transaction(), db.cursor('named') as cursor:
        cursor.itersize = 100
        cursor.execute('select n from measured order by n')
        assert [n for n, in cursor] == list(range(1000))
    try: db.execute('select 1 / 0')
    except psycopg.errors.DivisionByZero: pass
    db.execute('listen news')
    db.execute("notify news, 'heard'")
    print(next(db.notifies(timeout=10)).payload, db.info.encoding)
`)
    assert.equal(said, 'heard utf-8\n')
  },
)

test(
  'SQLAlchemy: tables, a session, a savepoint and a pool of five',
  { skip: missing('python3') || absent(join(PYTHON, 'sqlalchemy')) },
  async () => {
    const said = await python(`
import os
from concurrent.futures import ThreadPoolExecutor
from sqlalchemy import create_engine, select, func, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, Session
class Base(DeclarativeBase): pass
class Note(Base):
    __tablename__ = 'orm_notes'
    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str]
address = os.environ['DATABASE_URL'].replace('postgresql:', 'postgresql+psycopg:')
engine = create_engine(address, pool_size=5, max_overflow=0)
Base.metadata.create_all(engine)
with Session(engine) as session, session.begin():
    session.add_all(Note(body=str(n)) for n in range(50))
    with session.begin_nested() as nested:
        session.add(Note(body='undone'))
        nested.rollback()
def ask(n):
    with engine.connect() as connection: return connection.scalar(text('select :n * 2'), {'n': n})
with ThreadPoolExecutor(10) as pool: assert sum(pool.map(ask, range(100))) == 9900
with Session(engine) as session: print(session.scalar(select(func.count(Note.id))))
`)
    assert.equal(said, '50\n')
  },
)

test('Prisma: migrate deploy applies a migration once', { skip: absent(PRISMA) }, async () => {
  // Its packages are found from the folder of its files.
  const folder = mkdtempSync(join(INSTALLED, 'project-'))
  try {
    const migration = join(folder, 'migrations/20260101000000_init')
    mkdirSync(migration, { recursive: true })
    const files = {
      'schema.prisma': `datasource db {
  provider = "postgresql"
  url = env("DATABASE_URL")
}
model Book {
  id Int @id @default(autoincrement())
  title String
}\n`,
      'migrations/migration_lock.toml': 'provider = "postgresql"\n',
      'migrations/20260101000000_init/migration.sql':
        'CREATE TABLE "Book" ("id" SERIAL PRIMARY KEY, "title" TEXT NOT NULL);\n',
      'prisma.config.ts': `import { defineConfig } from 'prisma/config'
import { PrismaPg } from '@prisma/adapter-pg'
export default defineConfig({
  experimental: { adapter: true }, engine: 'js', schema: 'schema.prisma', migrations: { path: 'migrations' },
  adapter: async () => new PrismaPg({ connectionString: process.env.DATABASE_URL }),
})\n`,
    }
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    const env = {
      DATABASE_URL: copyUrl.replace('sslmode=require', 'sslmode=no-verify'),
      // An engine of queries, which it would download, takes no part in a migration.
      PRISMA_QUERY_ENGINE_LIBRARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      HOME: work,
    }
    const deploy = () => output(PRISMA, ['migrate', 'deploy'], { cwd: folder, env })
    await psql(copyUrl, 'drop owned by current_user cascade; create schema if not exists public')
    assert.match(await deploy(), /All migrations have been successfully applied/)
    assert.match(await deploy(), /No pending migrations to apply/)
    await psql(copyUrl, `insert into "Book" (title) values ('one')`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test(
  'pgvector: its own SQL suite passes for the owner of a database',
  { skip: absent(PGVECTOR_TESTS) },
  async () => {
    const folder = PGVECTOR_TESTS
    const files = readdirSync(join(folder, 'sql')).map((file) => basename(file, '.sql'))
    assert.equal(files.length, PGVECTOR_FILES)
    // copy.sql writes and reads files there.
    mkdirSync(join(work, 'results'))
    const failed: string[] = []
    for (const file of files) {
      const wanted = readFileSync(join(folder, `expected/${file}.out`), 'utf8')
      if ((await regress(readFileSync(join(folder, `sql/${file}.sql`), 'utf8'))) !== wanted)
        failed.push(file)
    }
    assert.deepEqual(failed, [])
    // Planted: a suite that is not run, or whose output is not compared.
    assert.notEqual(
      await regress('select 1;'),
      readFileSync(join(folder, 'expected/cast.out'), 'utf8'),
    )
  },
)

/** The output of psql for a file of a regression test, as pg_regress runs it, in a schema of its own. */
async function regress(sql: string): Promise<string> {
  await psql(
    url,
    'set client_min_messages = warning; drop schema if exists suite cascade; create schema suite',
  )
  const options = { search_path: 'suite,public', client_min_messages: 'notice' }
  const env = {
    PGTZ: 'PST8PDT',
    PGDATESTYLE: 'Postgres, MDY',
    PGOPTIONS: Object.entries({ ...options, intervalstyle: 'postgres_verbose' })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  }
  // Errors are part of the output, each at its place.
  const words = ['-c', 'exec "$0" -Xaq "$1" 2>&1', await ownProgram('psql'), withoutTls(url)]
  return await output('sh', words, { input: sql, cwd: work, env })
}
