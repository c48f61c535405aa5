// The size of a database beside a real server: its limit, the space of the node, and growth that no writer explains.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { FatalError } from '#wire/messages.ts'
import {
  cachedInstall,
  quiet,
  startTestServer,
  whyNoServer,
  type TestServer,
} from '#postgres/testing.ts'
import { connectState, type State } from '#state/connect.ts'
import { STATEMENT_SETTINGS } from '#databases/server/statements.ts'
import { keepSize, type SizeDeps } from './keep-size.ts'
import { FILES_MAX } from './full-words.ts'
import { createStoredReader, type StoredFiles, type StoredReader } from './stored.ts'
import { untilWritten, type WrittenTables, type WrittenWait } from './until-written.ts'

const skip = whyNoServer()
const WAIT_MS = 30_000
const GB = 1_000_000_000
/** A size of which a twentieth is not free. */
const NEARLY = 1.03

let server: TestServer
let state: State
let data: string
/** Files that count, and that no transaction writes. */
let grown: string
const read = createStoredReader()
const readBytes = async () => (await read(data, new AbortController().signal)).bytes
const connect = () =>
  connectState({
    address: { host: server.socketFolder, database: 'postgres', ...server.superuser },
    connections: 1,
    log: quiet,
  })
before(async () => {
  if (skip !== false) return
  server = await startTestServer(await cachedInstall(), STATEMENT_SETTINGS)
  state = connect()
  await state.query("create role reader login password 'of a test'")
  data = join(server.folder, 'data')
  grown = join(data, 'pg_multixact', 'grown')
  mkdirSync(grown)
  // So that files of the server's own make no difference.
  writeFileSync(join(grown, 'first'), Buffer.alloc(10_000_000))
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < lastMs, what)
    await pause(10)
  }
}

type Cut = { readonly fatal: FatalError; readonly pids: readonly number[] | undefined }

/** Keeps the size with a limit and a space that the test changes, until the end of the test. */
function keeping(
  limits: { sizeBytes: number; spaceBytes: number },
  given: Partial<Pick<SizeDeps, 'read' | 'untilWritten' | 'slow'>> = {},
) {
  const cuts: Cut[] = []
  const found: (string | undefined)[] = []
  const looks = { count: 0 }
  const ending = new AbortController()
  const counted: StoredReader = (...where) => {
    looks.count++
    return (given.read ?? read)(...where)
  }
  const kept = keepSize(
    {
      folder: server.folder,
      name: 'notes',
      log: quiet,
      untilWritten,
      connect,
      sizeBytes: () => limits.sizeBytes,
      spaceBytes: () => limits.spaceBytes,
      slow: () => undefined,
      ...given,
      read: counted,
      hold: () => ({ [Symbol.dispose]: () => undefined }),
      cut: (fatal, pids) => void cuts.push({ fatal, pids }),
      found: async (_, full) => void found.push(full?.message),
    },
    ending.signal,
  )
  return {
    cuts,
    found,
    looks,
    async [Symbol.asyncDispose]() {
      ending.abort()
      await kept
    },
  }
}

const isReadOnly = async (): Promise<boolean> => {
  const { rows } = await state.query<{ setting: string }>(
    "select setting from pg_settings where name = 'default_transaction_read_only'",
  )
  return rows[0]?.setting === 'on'
}

test(
  'without space on the node a database is read, says why, and writes again with the first byte',
  { skip },
  async () => {
    // Nearly full: a full database would wait for more room than this.
    const bytes = await readBytes()
    const limits = { sizeBytes: NEARLY * bytes, spaceBytes: GB }
    await using kept = keeping(limits)
    await until('it is measured', () => kept.found.length > 0)
    assert.deepEqual(kept.found, [undefined])
    limits.spaceBytes = 0
    await until('it is full', isReadOnly)
    await until('it is told', () => kept.found.includes('the disk of the node is full'))
    limits.spaceBytes = 1
    await until('it is open again', async () => !(await isReadOnly()))
    await until('it is told again', () => kept.found.at(-1) === undefined)
    // A full database waits for a twentieth of its size.
    limits.spaceBytes = GB
    limits.sizeBytes = await readBytes()
    await until('it is full', isReadOnly)
    limits.sizeBytes = NEARLY * limits.sizeBytes
    await pause(300)
    assert.ok(await isReadOnly())
    limits.sizeBytes *= 2
    await until('it is open again', async () => !(await isReadOnly()))
  },
)

/** A session of a role that has written nothing. */
async function customer(t: TestContext, database = 'postgres'): Promise<pg.Client> {
  const address = { host: server.socketFolder, user: 'reader', password: 'of a test' }
  const client = new pg.Client({ ...address, database })
  client.on('error', () => undefined)
  await client.connect()
  t.after(() => client.end())
  return client
}

test('long texts of queries in a full database are dropped at once', { skip }, async (t) => {
  await state.query('create extension pg_stat_statements schema public')
  const before = await readBytes()
  await (await customer(t)).query(`select /* ${'x'.repeat(60_000_000)} */ 1`)
  const after = await readBytes()
  assert.ok(after - before > 50_000_000, `${after - before} bytes more`)
  await using kept = keeping({ sizeBytes: before + 20_000_000, spaceBytes: GB })
  await until('they are dropped', async () => (await readBytes()) < before + 10_000_000)
  await until('it is open', async () => !(await isReadOnly()))
  assert.deepEqual(kept.cuts, [])
})

test(
  'messages that a session does not read fill no database for longer than its transaction may',
  { skip },
  async (t) => {
    const limits = { sizeBytes: (await readBytes()) + 20_000_000, spaceBytes: GB }
    const listener = await customer(t)
    const { rows } = await listener.query<{ pid: number }>('select pg_backend_pid() as pid')
    await listener.query('listen c')
    await listener.query('begin')
    await listener.query('select 1')
    const messages =
      "select count(pg_notify('c', lpad(n::text, 7900, 'x'))) from generate_series(1, 4000) n"
    await (await customer(t)).query(messages)
    await using kept = keeping(limits)
    const words = 'messages of NOTIFY that wait for the end of a transaction fill the database'
    const isEnded = () =>
      kept.cuts.some(
        ({ fatal, pids }) => fatal.message === words && pids?.includes(rows[0]?.pid ?? 0),
      )
    await until('the listener is ended', isEnded)
    await until('it has room', async () => (await readBytes()) < limits.sizeBytes)
    await until('it is open', async () => !(await isReadOnly()))
  },
)

test(
  'messages that a session never reads, as each of its transactions begins with the end of another, fill no database for long',
  { skip },
  async (t) => {
    const limits = { sizeBytes: (await readBytes()) + 20_000_000, spaceBytes: GB }
    const listener = await customer(t)
    const { rows } = await listener.query<{ pid: number }>('select pg_backend_pid() as pid')
    await listener.query('listen c')
    await listener.query('begin')
    const ending = new AbortController()
    const loop = (async () => {
      while (!ending.signal.aborted) await listener.query('commit; begin; select pg_sleep(0.3)')
    })().catch(() => undefined)
    const messages =
      "select count(pg_notify('c', lpad(n::text, 7900, 'x'))) from generate_series(1, 4000) n"
    await (await customer(t)).query(messages)
    await using kept = keeping(limits)
    const isEnded = () => kept.cuts.some(({ pids }) => pids?.includes(rows[0]?.pid ?? 0))
    await until('the listener is ended', isEnded)
    await until('it is open', async () => !(await isReadOnly()))
    ending.abort()
    await loop
  },
)

test('a full database that grows without a writer ends all of its sessions', { skip }, async () => {
  for (const bytes of [8_000_000, 2_000_000]) {
    const limits = { sizeBytes: await readBytes(), spaceBytes: GB }
    await using kept = keeping(limits)
    await until('it is full', isReadOnly)
    kept.cuts.length = 0
    // As NOTIFY with a session that never reads: files grow, and no transaction has written.
    let nth = 0
    for (; nth < 200 && kept.cuts.length === 0; nth++) {
      writeFileSync(join(grown, `${bytes}-${nth}`), Buffer.alloc(bytes))
      const before = kept.looks.count
      await until('it is measured', () => kept.looks.count > before + 1)
    }
    const [{ fatal, pids } = assert.fail('no session was ended')] = kept.cuts
    assert.deepEqual([fatal.code, pids], ['53100', undefined])
    assert.ok(nth * bytes <= 16_000_000 + 2 * bytes, `${nth} times ${bytes} bytes`)
  }
})

/** A session of a customer with a transaction that has written; the pid of its backend. */
async function startWriter(t: TestContext): Promise<number> {
  await state.query("begin read write; create role writer login password 'of a test'; commit")
  const address = { host: server.socketFolder, user: 'writer', password: 'of a test' }
  const client = new pg.Client({ ...address, database: 'postgres' })
  client.on('error', () => undefined)
  await client.connect()
  t.after(async () => {
    await client.end()
    await state.query('begin read write; drop role writer; commit')
  })
  const { rows } = await client
    .query<{ pid: number }>(
      'begin read write; select pg_current_xact_id(); select pg_backend_pid() as pid',
    )
    .then(
      (results) => (results as unknown as pg.QueryResult<{ pid: number }>[])[2] ?? assert.fail(),
    )
  return rows[0]?.pid ?? assert.fail()
}

/** Measurements as they are, but with these sizes one after the other, and the last one from then on. */
function readsOf(sizes: readonly Partial<StoredFiles>[]): StoredReader {
  let nth = 0
  return async (...where) => ({
    ...(await read(...where)),
    ...sizes[Math.min(nth++, sizes.length - 1)],
  })
}

test(
  'a writer that would pass the size before the next measurement is ended, and nobody else',
  { skip },
  async (t) => {
    const pid = await startWriter(t)
    const MB = 1_000_000
    // The last step would be taken again in a tenth of the time.
    const sizes = [1, 31, 61].map((mb) => ({ bytes: mb * MB }))
    await using kept = keeping({ sizeBytes: 64 * MB, spaceBytes: GB }, { read: readsOf(sizes) })
    await until('the writer is ended', () => kept.cuts.length > 0)
    assert.deepEqual(
      kept.cuts.map(({ fatal, pids }) => [fatal.code, pids]),
      [['53100', [pid]]],
    )
    assert.equal(await isReadOnly(), false)
    assert.deepEqual(kept.found, [undefined])
  },
)

/** The last message of each session whose temporary files exceed the room, while the tables grow by so many MB. */
async function toldOfTemporary(pids: readonly number[], growthMb: number) {
  const MB = 1_000_000
  const temporary = { temporaryBytes: 10 * MB, temporaryPids: pids }
  const begun = { bytes: (58 - growthMb) * MB, temporaryBytes: 0, temporaryPids: [] }
  const sizes = [begun, begun, { bytes: 58 * MB, ...temporary }]
  await using kept = keeping({ sizeBytes: 64 * MB, spaceBytes: GB }, { read: readsOf(sizes) })
  const wordsOf = (pid: number) => kept.cuts.find((cut) => cut.pids?.includes(pid))?.fatal.message
  await until('they are ended', () => pids.every((pid) => wordsOf(pid) !== undefined))
  return pids.map((pid) => wordsOf(pid) ?? assert.fail())
}

test(
  'temporary files are blamed for a full database where no larger part of the room went to tables',
  { skip },
  async (t) => {
    const writer = await startWriter(t)
    const { rows } = await (
      await customer(t)
    ).query<{ pid: number }>('select pg_backend_pid() as pid')
    const pids = [writer, rows[0]?.pid ?? assert.fail()]
    const temporary = 'the temporary files of the query leave no room in the database of 64MB'
    const ahead = 'the session was about to fill the database: its size is 64MB'
    assert.deepEqual(await toldOfTemporary(pids, 9), [temporary, temporary])
    // A session that wrote no table has no part in their growth.
    assert.deepEqual(await toldOfTemporary(pids, 50), [ahead, temporary])
  },
)

test(
  'a database that is full of the rows of ended transactions has room after a vacuum',
  { skip },
  async (t) => {
    await state.query('create database own owner reader')
    const owner = await customer(t, 'own')
    await owner.query('create table undone (body text) with (autovacuum_enabled = off)')
    const bytes = await readBytes()
    await assert.rejects(
      owner.query(`insert into undone
        select repeat('x', 1300) from generate_series(0, 20000) n where 1 / (20000 - n) >= 0`),
      /division by zero/,
    )
    const after = await readBytes()
    assert.ok(after - bytes > 20_000_000, `${after - bytes} bytes more`)
    await using _ = keeping({ sizeBytes: bytes + 20_000_000, spaceBytes: GB })
    await until('it is full', isReadOnly)
    await owner.query('vacuum undone')
    await until('it is open again', async () => !(await isReadOnly()))
  },
)

test(
  'a write ends the rest of a database with little room, and the next rest has its least time',
  { skip },
  async () => {
    const [bytes, rests, isWritten] = [1_000_000, [] as string[], [false, false, true, false]]
    const waits: WrittenTables = async (folder, { leastMs, mostMs }) => {
      assert.equal(folder, data)
      rests.push(`${leastMs > 0 ? 'some' : 'no'} time and at most ${mostMs} ms`)
      await pause(1)
      return isWritten[rests.length - 1] ?? false
    }
    const still: StoredReader = async (...where) => ({ ...(await read(...where)), bytes })
    const given = { read: still, untilWritten: waits }
    await using _ = keeping({ sizeBytes: bytes + 20_000_000, spaceBytes: GB }, given)
    await until('it rests', () => rests.length > 4)
    const [some, none] = ['some time and at most 25 ms', 'no time and at most 25 ms']
    assert.deepEqual(rests.slice(0, 5), [some, none, none, some, none])
  },
)

test(
  'the first write after a rest with little room slows the server until its growth is known',
  { skip },
  async () => {
    const [bytes, told, isWritten] = [1_000_000, [] as string[], [false, true]]
    const given = {
      read: (async (...where) => {
        told.push('measured')
        return { ...(await read(...where)), bytes }
      }) satisfies StoredReader,
      untilWritten: (async (_, { leastMs }) => {
        await pause(leastMs + 1)
        return isWritten.shift() ?? false
      }) satisfies WrittenTables,
      slow: (milli: number | undefined) => void told.push(`${milli}`),
    }
    await using _ = keeping({ sizeBytes: bytes + 12_000_000, spaceBytes: GB }, given)
    await until('it is slowed and let go', () => told.includes('undefined'))
    const first = told.slice(0, told.indexOf('undefined') + 1)
    const [before, ...after] = first.join(' ').split(' 20 ')
    assert.match(before ?? '', /^measured( measured)+$/)
    assert.deepEqual(after, ['measured measured undefined'])
  },
)

test(
  'a database with much room rests four times as long without a write, and not blindly',
  { skip },
  async () => {
    const [room, rests] = [100_000_000, [] as WrittenWait[]]
    const sizes = [1, 1, 1].map((mb) => ({ bytes: mb * 1_000_000, temporaryBytes: 0 }))
    const sorted = { bytes: 1_000_000, temporaryBytes: 1 }
    const waits: WrittenTables = async (_, wait) => {
      rests.push(wait)
      await pause(1)
      return false
    }
    let measurements = 0
    const steps = readsOf([...sizes, sorted])
    const counted: StoredReader = async (...where) => {
      measurements++
      return await steps(...where)
    }
    const given = { read: counted, untilWritten: waits }
    await using _ = keeping({ sizeBytes: room + 1_000_000, spaceBytes: GB }, given)
    await until('it is measured', () => measurements > 6)
    // The first measurement counts as growth, and files of queries that sort may grow without a write to a table.
    assert.equal(rests.length, 2)
    for (const { leastMs, mostMs, blindMs } of rests)
      assert.deepEqual([leastMs, mostMs, blindMs], [40, 160, 40])
  },
)

test('a measurement that waits for its turn does not delay the next one', { skip }, async () => {
  const restsMs: number[] = []
  let lastMs = Infinity
  let bytes = 1_000_000
  const waiting: StoredReader = async (...where) => {
    restsMs.push(performance.now() - lastMs)
    await pause(100)
    lastMs = performance.now()
    return { ...(await read(...where)), bytes: (bytes += 2_000_000) }
  }
  await using _ = keeping({ sizeBytes: 64_000_000, spaceBytes: GB }, { read: waiting })
  await until('it is measured', () => restsMs.length > 6)
  assert.ok(Math.min(...restsMs.slice(1)) < 250, `${restsMs}`)
})

test(
  'a database with too many files is full, until it has a twentieth less',
  { skip },
  async () => {
    const limits = { sizeBytes: GB, spaceBytes: GB }
    let files = FILES_MAX
    const counted: StoredReader = async (...where) => ({ ...(await read(...where)), files })
    await using kept = keeping(limits, { read: counted })
    await until('it is measured', () => kept.found.length > 0)
    files = FILES_MAX + 1
    await until('it is full', isReadOnly)
    await until('it is told', () => kept.found.length > 1)
    assert.deepEqual(kept.found, [undefined, 'the database is full: it has more than 100000 files'])
    files = FILES_MAX * 0.96
    await pause(300)
    assert.ok(await isReadOnly())
    files = FILES_MAX * 0.94
    await until('it is open again', async () => !(await isReadOnly()))
  },
)
