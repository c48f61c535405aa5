// Backups as owners of databases use them, in an S3 store: taken while clients write and of a sleeping database. They
// are restored to their end, to a time and to the last moment, also after a deletion; and damage is found. ERGON_LONG=1
// also ends processes amid backups, and lets more log wait than anybody should.
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startUpstream, type UpstreamDouble } from '#blobs/upstream.fixture.ts'
import { bookFaults } from '../books.ts'
import { createRests } from '../rests.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { backUpNightly } from './driver.ts'
import { damagePage, openForge } from './forged-backups.ts'

const WAIT_MS = 60_000
const LONG = process.env['ERGON_LONG'] === '1'
const STORE = 's3://bodies/cloud'
const REGION = 'eu-north-1'
const KEY = { accessKeyId: 'key', secretAccessKey: 'secret' }
const AWAY = 503

let ergon: Ergon
let upstream: UpstreamDouble
before(async () => {
  upstream = await startUpstream()
  ergon = await startErgon({
    env: {
      ERGON_DB_IDLE_SECONDS: '2',
      ERGON_DB_ARCHIVE_SECONDS: '1',
      ERGON_STORAGE_MINUTE_S: '2',
      ERGON_STORAGE_BLOBS: STORE,
      ERGON_STORAGE_S3_ENDPOINT: upstream.url,
      ERGON_STORAGE_S3_REGION: REGION,
      ERGON_STORAGE_S3_KEY: `${KEY.accessKeyId}:${KEY.secretAccessKey}`,
    },
  })
  await done('db', 'create', 'notes')
  await backUpNightly(ergon, await idOf('notes'))
})
after(async () => {
  await ergon?.stop()
  await upstream?.[Symbol.asyncDispose]()
})

/** Runs a command that must succeed. */
async function done(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ergon.cli(...words)
  assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
  return stdout.trim()
}

/** Runs a command that must fail; its words. */
async function refused(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ergon.cli(...words)
  assert.notEqual(code, 0, `${words.join(' ')}: ${stdout}`)
  return stderr
}

async function withClient<T>(name: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const url = new URL(await done('db', 'url', name))
  url.searchParams.delete('sslmode')
  const client = new pg.Client({ connectionString: url.href, ssl: { rejectUnauthorized: false } })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const numbersOf = (name: string, table: string): Promise<number[]> =>
  withClient(name, async (client) => {
    const { rows } = await client.query<{ n: number }>(`select n from ${table} order by n`)
    return rows.map(({ n }) => n)
  })

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  const rest = createRests()
  while (!(await holds())) {
    assert.ok(performance.now() < lastMs, what)
    await rest()
  }
}

const idOf = async (name: string): Promise<string> =>
  (JSON.parse(await done('db', 'show', name, '--json')) as { id: string }).id

const isAsleep = (id: string) =>
  !existsSync(join(ergon.runFolder, 'databases', `db-${id.slice(3)}`, '.s.PGSQL.5432'))

const isArchived = async (id: string) =>
  (await ergon.sql('select from databases where id = $1 and is_archived', [id])).length > 0

/** The folders of clusters and of restores under way. */
const clusters = (): string[] => {
  const folder = join(ergon.dataFolder, 'databases')
  return [...readdirSync(folder), ...readdirSync(join(folder, 'restored'))]
    .filter((name) => name.startsWith('db_'))
    .toSorted()
}

test('a backup under writes has each row that was acknowledged before it', async () => {
  await withClient('notes', async (client) => {
    await client.query('create table written (n int primary key)')
    let acknowledged = 0
    let isWriting = true
    const writing = (async () => {
      while (isWriting) {
        await client.query('insert into written values ($1)', [acknowledged + 1])
        acknowledged++
        await pause(1)
      }
    })()
    await until('some rows are written', () => acknowledged > 100)
    const least = acknowledged
    const backup = await done('db', 'backup', 'create', 'notes')
    const most = acknowledged + 1
    isWriting = false
    await writing
    assert.match(backup, /^bkp_/)
    await done('db', 'restore', 'notes', '--backup', backup, '--as', 'then')
    const rows = await numbersOf('then', 'written')
    assert.ok(rows.length >= least && rows.length <= most, `${least} ${rows.length} ${most}`)
    assert.deepEqual(
      rows,
      [...rows.keys()].map((row) => row + 1),
    )
  })
  const list = await done('db', 'backup', 'list', 'notes')
  assert.match(list, /^bkp_\S+ +manual +done /m)
})

test('a restore to a time is between two rows', async () => {
  const time = await withClient('notes', async (client) => {
    const now = async () =>
      (await client.query<{ now: Date }>('select clock_timestamp() as now')).rows[0]?.now ??
      new Date()
    await client.query('create table timed (n int)')
    await client.query('insert into timed values (1)')
    await pause(20)
    const between = await now()
    await pause(20)
    await client.query('insert into timed values (2)')
    return between
  })
  await done('db', 'restore', 'notes', '--to', time.toISOString(), '--as', 'between')
  assert.deepEqual(await numbersOf('between', 'timed'), [1])
  for (const name of ['then', 'between']) await done('db', 'delete', name, '--force')
})

test('a sleeping database has its whole log in the backups', async () => {
  const id = await idOf('notes')
  await until('it sleeps and its log is stored', async () => isAsleep(id) && (await isArchived(id)))
  await done('db', 'clone', 'notes', 'asleep')
  assert.ok(isAsleep(id), 'the clone woke it up')
  assert.deepEqual(await numbersOf('asleep', 'timed'), [1, 2])
})

test('times that no backup has are refused in words, and so are wrong words', async () => {
  const restore = (...words: string[]) => refused('db', 'restore', 'notes', ...words)
  assert.match(await restore('--as', 'x', '--to', '2020-01-01T00:00:00Z'), /to times from 20/)
  assert.match(await restore('--as', 'x', '--to', '2090-01-01T00:00:00Z'), /to times from 20/)
  assert.match(await restore('--as', 'x', '--to', 'yesterday'), /no time with its zone/)
  assert.match(await restore('--as', 'x', '--backup', 'bkp_none'), /Could not find the backup/)
  assert.match(await restore('--as', 'notes'), /"notes" exists already/)
  assert.match(await restore(), /needs a name/)
  assert.match(await refused('db', 'backup', 'list', 'none'), /Could not find the database/)
  assert.match(await refused('db', 'show', 'x'), /Could not find the database/)
  assert.deepEqual(await createFrom({ time: '2020-01-01T00:00:00Z' }), [
    409,
    'database_not_restorable',
  ])
  assert.deepEqual(await createFrom({ backup: 'bkp_none' }), [404, 'backup_not_found'])
})

async function createFrom(moment: object): Promise<[number, string]> {
  const answer = await fetch(`${ergon.baseUrl}/v1/databases`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'x', from: { database: 'notes', ...moment } }),
  })
  const { error } = (await answer.json()) as { error?: { code: string } }
  return [answer.status, error?.code ?? '']
}

test('a nightly backup is not deleted by hand, and no other one follows it while nobody writes', async () => {
  const id = await backUpNightly(ergon, await idOf('notes'))
  assert.match(
    await refused('db', 'backup', 'delete', 'notes', id, '--json'),
    /"backup_not_deletable".*nightly ones end with the retention/,
  )
  const notes = await idOf('notes')
  await until('its log is stored', async () => isAsleep(notes) && (await isArchived(notes)))
  // A day of a millisecond.
  await ergon.sql('select want_nightly_backups(1)')
  const wanted = () =>
    ergon.sql("select from database_backups where database = $1 and status = 'wanted'", [notes])
  assert.deepEqual(await wanted(), [])
})

test('a damaged backup and a gap in the log fail in words and leave nothing', async () => {
  const backup = await done('db', 'backup', 'create', 'notes')
  const before = clusters()
  const [part] = await ergon.sql<{ blob: string }>(
    'select blob from database_parts where backup = $1',
    [backup],
  )
  const id = part?.blob ?? ''
  const key = [...upstream.objects.keys()].find((name) => name.includes(id)) ?? ''
  upstream.objects.set(key, upstream.objects.get(key)?.subarray(0, 100_000) ?? Buffer.of())
  const words = await refused('db', 'restore', 'notes', '--backup', backup, '--as', 'bad')
  assert.match(words, /blob/)
  await until('nothing is left', () => clusters().join() === before.join())
  assert.match(await refused('db', 'show', 'bad'), /Could not find/)
  await done('db', 'backup', 'delete', 'notes', backup)
  const [gone] = await ergon.sql<{ row: object }>(
    `with gone as (delete from database_wal where (database, begin_lsn) =
       (select database, begin_lsn from database_wal where database = $1 order by begin_lsn desc offset 1 limit 1)
       returning *) select to_jsonb(gone) as row from gone`,
    [await idOf('notes')],
  )
  assert.match(await refused('db', 'clone', 'notes', 'bad'), /the log has a gap after/)
  assert.match(await refused('db', 'show', 'bad'), /Could not find/)
  const back =
    'insert into database_wal select * from jsonb_populate_record(null::database_wal, $1)'
  await ergon.sql(back, [gone?.row])
})

test('a copy without its label, a damaged page and a log that ends too early are refused', async () => {
  const path = await withClient('notes', async (client) => {
    const { rows } = await client.query<{ path: string }>(
      "select pg_relation_filepath('timed') as path",
    )
    return rows[0]?.path ?? ''
  })
  const backup = await done('db', 'backup', 'create', 'notes')
  const folder = join(ergon.dataFolder, 'blobs')
  const s3 = { [STORE]: { endpoint: upstream.url, region: REGION, ...KEY } }
  const forge = await openForge(ergon, { folder, target: STORE, locations: ['fs', STORE], s3 })
  const refusedOf = (id: string) => refused('db', 'restore', 'notes', '--backup', id, '--as', 'bad')
  const unlabelled = await forge.copy(backup, 'bkp_unlabelled', (files) =>
    rmSync(join(files, 'backup_label')),
  )
  assert.match(await refusedOf(unlabelled), /its copy has no label/)
  const damaged = await forge.copy(backup, 'bkp_damaged', (files) => damagePage(join(files, path)))
  assert.match(await refusedOf(damaged), /a table cannot be read: invalid page/)
  // A clone takes the newest backup: the three have one time.
  for (const name of [unlabelled, damaged]) await done('db', 'backup', 'delete', 'notes', name)
  const id = await idOf('notes')
  await until('all of its log is stored', () => isArchived(id))
  await forge.withoutLastLog(id, async () => {
    assert.match(await refused('db', 'clone', 'notes', 'bad'), /the recovery reached .*, and not/)
  })
  assert.match(await refused('db', 'show', 'bad'), /Could not find/)
  await done('db', 'backup', 'delete', 'notes', backup)
})

/** Blobs that rows name and that belong to no backup. */
const orphans = async (): Promise<number> =>
  (
    await ergon.sql(
      `select id from blobs where id not in (select blob from database_parts union select blob from database_wal)`,
    )
  ).length

/** Asks for a backup and ends a process in the midst of it; the backup is done all the same. */
async function killedAmid(kill: () => Promise<void>): Promise<void> {
  const before = await orphans()
  const [asked] = await ergon.sql<{ id: string }>("select want_backup($1, 'manual') as id", [
    await idOf('large'),
  ])
  const rowOf = async () =>
    (
      await ergon.sql<{ status: string; attempts: number; is_begun: boolean }>(
        'select status, attempts, done_bytes > 0 as is_begun from database_backups where id = $1',
        [asked?.id],
      )
    )[0]
  await until('it has begun', async () => (await rowOf())?.is_begun === true)
  await kill()
  await until('it is done', async () => (await rowOf())?.status === 'done')
  assert.equal((await rowOf())?.attempts, 2, 'it was over before the kill')
  assert.equal(await orphans(), before)
  await done('db', 'restore', 'large', '--backup', asked?.id ?? '', '--as', 'killed')
  assert.equal((await numbersOf('killed', 'filled')).length, 40_000)
  await done('db', 'delete', 'killed', '--force')
}

test(
  'a kill -9 of the process of a backup or of the agent costs no backup',
  { skip: !LONG },
  async () => {
    await done('db', 'create', 'large')
    await withClient('large', (client) =>
      client.query(
        `create table filled as select n, string_agg(md5(n::text || m), '') as text
       from generate_series(1, 40000) n, generate_series(1, 50) m group by n`,
      ),
    )
    const cell = `db-${(await idOf('large')).slice(3)}-backup`
    await killedAmid(() => ergon.killCell(cell))
    await killedAmid(async () => {
      await ergon.kill()
      await ergon.resume()
    })
  },
)

test('an export is imported with every row, and a broken one changes nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-dump-'))
  try {
    const [custom, plain] = [join(folder, 'notes.dump'), join(folder, 'notes.sql')]
    await done('db', 'export', 'notes', custom)
    await done('db', 'export', 'notes', plain, '--format', 'plain')
    await done('db', 'create', 'other')
    for (const source of [await done('db', 'url', 'notes'), custom, plain]) {
      await withClient('other', (client) => client.query('drop table if exists timed, written'))
      await done('db', 'import', 'other', source)
      assert.deepEqual(await numbersOf('other', 'timed'), [1, 2], source)
    }
    // The tables are there already: all or nothing.
    await refused('db', 'import', 'other', plain)
    assert.deepEqual(await numbersOf('other', 'timed'), [1, 2])
    assert.match(await refused('db', 'import', 'other', join(folder, 'none')), /Could not read/)
    writeFileSync(join(folder, 'nothing'), '')
    assert.match(await refused('db', 'import', 'other', join(folder, 'nothing')), /is empty/)
    // A failed export leaves no file, and the one that is there as it is.
    await done('db', 'suspend', 'other')
    assert.match(
      await refused('db', 'backup', 'create', 'other', '--json'),
      /"database_suspended".*it is suspended\. Resume/,
    )
    const before = readFileSync(custom)
    for (const file of [custom, join(folder, 'new.dump')])
      assert.match(await refused('db', 'export', 'other', file), /pg_dump ended with status 1/)
    assert.deepEqual(readdirSync(folder).toSorted(), ['notes.dump', 'notes.sql', 'nothing'])
    assert.deepEqual(readFileSync(custom), before)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

type Told = { readonly waiting_bytes?: number }

/** Alarms of log that waits; stores refuse meanwhile, and the log is stored in the end. */
async function toldWhile(
  name: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<Told[]> {
  const id = await idOf(name)
  const alarms = () =>
    ergon.sql<{ detail: Told }>(
      `select detail from alarms where kind = 'database_log_waiting' and detail ->> 'database' = $1`,
      [id],
    )
  const isLate = `select from databases where id = $1 and is_log_late`
  await withClient(name, async (client) => {
    try {
      upstream.refuses = AWAY
      await work(client)
      await until('the operator is told', async () => {
        await done('admin', 'tasks', 'run', 'databases.backups')
        return (await alarms()).length > 0
      })
      await done('admin', 'tasks', 'run', 'databases.backups')
    } finally {
      upstream.refuses = undefined
    }
    await until('it is stored', async () => (await ergon.sql(isLate, [id])).length === 0)
  })
  const found = await done('admin', 'alarm', 'list', '--json')
  const [alarm] = (JSON.parse(found) as { id: string; kind: string }[]).filter(
    ({ kind }) => kind === 'database_log_waiting',
  )
  await done('admin', 'alarm', 'acknowledge', alarm?.id ?? '')
  const told = (await alarms()).map(({ detail }) => detail)
  // The books of a test have no alarm.
  await ergon.sql(
    "delete from alarms where kind = 'database_log_waiting' and acknowledged_at is not null",
  )
  assert.deepEqual(await bookFaults(ergon), [])
  return told
}

test('the operator hears once of log that a store does not take, and the log is stored later', async () => {
  const told = await toldWhile('notes', async (client) => {
    await client.query('create table waits as select 1 as n')
    // Six minutes pass.
    await pause(1500)
    await ergon.sql(
      `update databases d set log_stored_at = log_stored_at - interval '6 minutes'
       from resources n where n.id = d.id and n.name = 'notes'`,
    )
  })
  assert.equal(told.length, 1)
})

test('the operator hears of 256 MB of log that wait', { skip: !LONG }, async () => {
  const told = await toldWhile(
    'large',
    async (client) =>
      void (await client.query(
        'create table waits as select f.* from filled f, generate_series(1, 6)',
      )),
  )
  assert.equal(told.length, 1)
  assert.ok((told[0]?.waiting_bytes ?? 0) > 256_000_000)
})

test('a deleted database is restored by its id to a time after its last row, with that row', async () => {
  await withClient('notes', (client) => client.query('insert into timed values (3)'))
  const id = await idOf('notes')
  // As after a kill, between the files of a restore and its row.
  mkdirSync(join(ergon.dataFolder, 'databases', 'restored', id))
  const { stderr } = await ergon.cli('db', 'delete', 'notes', '--force')
  assert.match(
    stderr,
    new RegExp(`Until 20.* it can be restored: ergon db restore ${id} --as notes`),
  )
  await until('its files are gone', () => !clusters().includes(id))
  await done('db', 'restore', id, '--to', new Date().toISOString(), '--as', 'again')
  assert.deepEqual(await numbersOf('again', 'timed'), [1, 2, 3])
})

test('backups are charged: their CPU, and their bytes as stored bytes, also of a deleted database', async () => {
  const { id: deleted } = (
    await ergon.sql<{ id: string }>("select id from resources where desired = 'deleted' limit 1")
  )[0] ?? { id: '' }
  const restored = await idOf('again')
  for (const id of [deleted, restored])
    await until('its backup, or its restore, is charged', async () => {
      const rows = await ergon.sql(
        `select from charges where operation = 'database.backup' and energy_nj > 0
         and convert_from(bytes, 'UTF8')::json ->> 'resource' = $1`,
        [`database:${id}`],
      )
      return rows.length > 0
    })
  const due = () =>
    ergon.sql<{ bytes: string; backup_bytes: string }>(
      `select s.bytes, d.backup_bytes from standing_samples s join databases d using (id) join resources n using (id)
       where s.kind = 'database' and n.desired = 'deleted' and d.backup_bytes > 0`,
    )
  await until('the backups of a deleted one are sampled', async () =>
    (await due()).some(({ bytes, backup_bytes: own }) => bytes === own),
  )
  const [sums] = await ergon.sql<{ counted: string; named: string }>(
    `select sum(backup_bytes) as counted, (select sum(size) from blobs where id in (
       select blob from database_parts union select blob from database_wal)) as named from databases`,
  )
  assert.ok(Number(sums?.counted) >= Number(sums?.named))
  assert.deepEqual(await bookFaults(ergon), [])
})

test('charges name the id: a new database of an old name has none of the deleted one', async () => {
  await done('db', 'create', 'notes')
  const energy = JSON.parse(await done('db', 'energy', 'notes', '--json')) as { energy_nj: string }
  const [old] = await ergon.sql<{ nj: string }>(
    `select sum(energy_nj)::text as nj from charges where convert_from(bytes, 'UTF8')::json ->> 'resource' in
       (select 'database:' || id from resources where kind = 'database' and name = 'notes' and desired = 'deleted')`,
  )
  // Its making may be charged already, where a minute has ended since.
  assert.ok(
    BigInt(energy.energy_nj) < BigInt(old?.nj ?? 0) / 2n,
    `${energy.energy_nj} of ${old?.nj}`,
  )
  const named = await ergon.sql<{ operation: string; resource: string }>(
    `select distinct operation, convert_from(bytes, 'UTF8')::json ->> 'resource' as resource from charges
     where operation ~ '^(cell|database)[.](standing|session|backup)$'`,
  )
  for (const { operation, resource } of named)
    assert.match(resource, /^database:db_[0-9a-z]{26}$/, operation)
  assert.ok(new Set(named.map(({ operation }) => operation)).size >= 3)
})
