// A node that was made with PostgreSQL 16.13 and pgvector 0.8.1, both as they were published. After one start with
// --pg-upgrade the present minor version serves what its databases have, and db upgrade renews their extensions.
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, relative } from 'node:path'
import { after, before, test } from 'node:test'
import { openFolders } from '#artifacts/files.ts'
import { limitExtensions } from '#postgres/extensions.ts'
import { SERVER_VERSION } from '#postgres/package-tree.ts'
import { layVector } from '#postgres/vector-overlay.ts'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon, type Life } from '../start-ergon.ts'
import { makeDatabase, until, withClient } from './driver.ts'

const OLDER = '16.13'
const OLDER_VECTOR = '0.8.1'
const ROWS = 2000
const PUBLISHED = join(import.meta.dirname, '../../.cache/older-database')
const PACKAGE = join(PUBLISHED, `node_modules/@embedded-postgres/linux-${process.arch}/native`)
const WHEEL = join(PUBLISHED, 'wheel')

function whyNot(): string | false {
  if (process.env['ERGON_LONG'] !== '1') return 'set ERGON_LONG=1'
  return existsSync(PACKAGE) && existsSync(WHEEL) ? false : 'sh test/databases/install-older.sh'
}
const skip = whyNot()

let ergon: Ergon
before(async () => {
  if (skip !== false) return
  ergon = await startErgon()
  await installOlder(join(ergon.dataFolder, 'postgres'))
  await restart({})
})
after(() => ergon?.stop())

async function restart(life: Life): Promise<void> {
  await ergon.restart(life)
  await until('the service answers', async () => (await ergon.cli('db', 'list')).code === 0)
}

/** Puts the older install beside that of the data folder, and records it as the first start of its time has. */
async function installOlder(folder: string): Promise<void> {
  const work = mkdtempSync(join(folder, 'older-'))
  cpSync(PACKAGE, work, { recursive: true })
  const links = JSON.parse(readFileSync(join(work, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links)
    symlinkSync(basename(source), join(work, 'lib', basename(target)))
  await limitExtensions(work)
  const files = readdirSync(WHEEL, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(WHEEL, join(parentPath, name)))
  const entries = files.filter((path) => !path.includes('/include/') && !path.endsWith('.py'))
  const version = OLDER_VECTOR
  const path = (entry: string) => join(WHEEL, entry)
  await layVector({ name: 'pgvector-16', version, folder: WHEEL, entries, path }, work)
  await openFolders(work)
  const tree = `${OLDER}-2-pgvector-16-older`
  renameSync(work, join(folder, tree))
  writeFileSync(join(folder, 'install.json'), JSON.stringify({ rung: 'managed', tree }))
}

type Shown = {
  readonly postgres_version: string
  readonly extensions: readonly { readonly name: string; readonly version: string }[]
}
async function shown(command: 'show' | 'upgrade') {
  const { code, stdout, stderr } = await ergon.cli('db', command, 'notes', '--json')
  assert.equal(code, 0, stderr)
  const { postgres_version: postgres, extensions } = JSON.parse(stdout) as Shown
  return { postgres, ...Object.fromEntries(extensions.map(({ name, version }) => [name, version])) }
}

test('a database of an older minor version is served by the present one', { skip }, async () => {
  const url = await makeDatabase(ergon, 'notes')
  const running = async () => {
    const [row] = await withClient(url, (client) =>
      client
        .query<{ version: string }>("select current_setting('server_version') as version")
        .then(({ rows }) => rows),
    )
    return row?.version
  }
  const nearest = () =>
    withClient(url, async (client) => {
      await client.query('set enable_seqscan = off')
      const text = "from notes order by embedding <-> '[7,7,7]' limit 3"
      const plan = await client.query<{ 'QUERY PLAN': string }>(`explain select id ${text}`)
      assert.match(JSON.stringify(plan.rows), /notes_embedding_idx/)
      const { rows } = await client.query<{ id: number }>(`select id ${text}`)
      return rows.map(({ id }) => id)
    })
  assert.equal(await running(), OLDER)
  await withClient(url, (client) =>
    client.query(`create extension vector; create extension pg_trgm; create extension citext;
      create table notes (id int primary key, body citext, embedding vector(3));
      insert into notes select n, 'Note ' || n, format('[%s,%s,%s]', n, n, n)::vector
        from generate_series(1, ${ROWS}) n;
      create index on notes using hnsw (embedding vector_l2_ops);
      create index on notes using gin (body gin_trgm_ops)`),
  )
  const found = await nearest()
  assert.equal(found[0], 7)
  await until('the versions are seen', async () => {
    const { postgres, vector } = (await shown('show')) as Record<string, string>
    return postgres === OLDER && vector === OLDER_VECTOR
  })

  await restart({ ERGON_PG_UPGRADE: 'on' })
  assert.equal(await running(), SERVER_VERSION)
  assert.deepEqual(await nearest(), found)
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ n: number }>(
      "select count(*)::int as n from notes where body like 'note %'",
    )
    assert.equal(rows[0]?.n, ROWS)
    await client.query("insert into notes values (0, 'last', '[7,7,7]')")
  })
  await until('the versions are seen', async () => {
    const { postgres, vector } = (await shown('show')) as Record<string, string>
    return postgres === SERVER_VERSION && vector === OLDER_VECTOR
  })
  const { vector } = (await shown('upgrade')) as Record<string, string>
  assert.ok(vector !== undefined && vector > OLDER_VECTOR, vector)
  assert.deepEqual(new Set((await nearest()).slice(0, 2)), new Set([0, 7]))
  await restart({})
  assert.equal(await running(), SERVER_VERSION)
  assert.deepEqual(await bookFaults(ergon), [])
})
