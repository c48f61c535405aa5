// A database by the drivers that applications use, made by the API and deleted at the end. Each driver gets the
// connection string and nothing else.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { cosineDistance } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { pgTable, serial, text, vector } from 'drizzle-orm/pg-core'
import OpenAI from 'openai'
import pg from 'pg'
import postgres from 'postgres'
import { call, collect, key, needing } from './world.ts'

const NAME = `acceptance-${randomBytes(4).toString('hex')}`
const DEPLOYED_MAX_MS = 60_000
/** The tutorial's dimension, which the model behind `auto` gives. */
const DIMENSIONS = 1536
const NOTES = ['The cat sleeps on the sofa', 'Interest rates rose again', 'A recipe for bread']
const QUESTIONS = ['a pet that rests', 'news about money', 'how to bake']
const INDEXES = [
  'ivfflat (embedding vector_cosine_ops) with (lists = 1)',
  'hnsw (embedding vector_cosine_ops)',
]

let url = ''

/** node-postgres reads sslmode=require as verify-full, and the certificate may be the node's own. */
const forPg = (more: pg.PoolConfig = {}): pg.PoolConfig => ({
  connectionString: url.replace('sslmode=require', 'sslmode=no-verify'),
  enableChannelBinding: true,
  ...more,
})

async function usingPg<T>(more: pg.PoolConfig, work: (client: pg.Client) => Promise<T>) {
  const client = new pg.Client(forPg(more))
  // An end by the server between two queries; the next query of the work is rejected.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function usingPool<T>(more: pg.PoolConfig, work: (pool: pg.Pool) => Promise<T>) {
  const pool = new pg.Pool(forPg(more))
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

async function embed(input: string[]): Promise<string[]> {
  const openai = new OpenAI(key())
  const { data } = await openai.embeddings.create({ model: 'auto', input })
  for (const { embedding } of data) assert.equal(embedding.length, DIMENSIONS)
  return data.map(({ embedding }) => JSON.stringify(embedding))
}

const numbers = (length: number) => Array.from({ length }, (_, nth) => nth)

describe('databases', () => {
  const test = needing('database')

  test('a database is made, and has a connection string', async () => {
    const made = await call('/v1/databases', { body: { name: NAME, region: 'auto', size: '1GB' } })
    assert.equal(made.status, 201, await made.clone().text())
    const path = `/v1/databases/${NAME}`
    const deadline = performance.now() + DEPLOYED_MAX_MS
    for (let status = ''; status !== 'deployed'; await pause(50)) {
      ;({ status } = (await (await call(path)).json()) as { status: string })
      assert.ok(performance.now() < deadline, status)
    }
    ;({ url } = (await (await call(`${path}/url`)).json()) as { url: string })
    assert.match(url, /^postgresql:\/\/u_[^:]+:[^@]+@[^:]+:\d+\/acceptance-\w+\?sslmode=require$/)
  })

  needing('database', 'embedding')(
    'the nearest of 1536 numbers from /v1/embeddings are found by both kinds of index',
    async () => {
      const [notes, questions] = [await embed(NOTES), await embed(QUESTIONS)]
      await usingPg({}, async (client) => {
        await client.query('create extension vector')
        await client.query(
          `create table notes (id serial, body text, embedding vector(${DIMENSIONS}))`,
        )
        await client.query(
          'insert into notes (body, embedding) select * from unnest($1::text[], $2::vector[])',
          [NOTES, notes],
        )
        const nearest = `select body from notes order by embedding <=> $1 limit 1`
        for (const index of INDEXES) {
          await client.query(`create index nearest on notes using ${index}`)
          await client.query('set enable_seqscan = off')
          const plan = await client.query(`explain ${nearest}`, [questions[0]])
          assert.match(JSON.stringify(plan.rows), /Index Scan using nearest/)
          for (const [nth, question] of questions.entries())
            assert.deepEqual((await client.query(nearest, [question])).rows, [{ body: NOTES[nth] }])
          await client.query('drop index nearest')
        }
      })
    },
  )

  test('pg: a pool of five serves fifty queries, and a transaction is rolled back', () =>
    usingPool({ max: 5 }, async (pool) => {
      await pool.query('create table counted (n int primary key)')
      const insert = { name: 'insert', text: 'insert into counted values ($1)' }
      await Promise.all(numbers(50).map((n) => pool.query({ ...insert, values: [n] })))
      const client = await pool.connect()
      await client.query('begin')
      await client.query('delete from counted')
      await client.query('rollback')
      client.release()
      const { rows } = await pool.query('select count(*)::int as count, sum(n)::int from counted')
      assert.deepEqual(rows, [{ count: 50, sum: 1225 }])
      assert.equal(pool.totalCount, 5)
    }))

  test('pg: pipelined queries are answered in order, and an error is that of its query', () =>
    usingPg({ pipeline: true }, async (client) => {
      const asked = numbers(200).map((n) =>
        client.query<{ n: number }>({ name: 'n', text: 'select 100 / $1::int as n', values: [n] }),
      )
      const answers = await Promise.allSettled(asked)
      for (const [n, answer] of answers.entries())
        if (answer.status === 'fulfilled')
          assert.deepEqual(answer.value.rows, [{ n: Math.trunc(100 / n) }])
        else assert.deepEqual([n, (answer.reason as { code: string }).code], [0, '22012'])
    }))

  test('postgres.js: ten connections, a cursor, and LISTEN that hears of NOTIFY', async () => {
    const sql = postgres(url, { max: 10, onnotice: () => undefined })
    try {
      const slept = await Promise.all(
        numbers(10).map(() => sql`select pg_backend_pid() as pid from pg_sleep(0.2)`),
      )
      assert.equal(new Set(slept.map(([row]) => row?.['pid'] as number)).size, 10)
      const pages = await collect(sql`select generate_series(1, 1000) as n`.cursor(300))
      assert.deepEqual(
        pages.map(({ length }) => length),
        [300, 300, 300, 100],
      )
      const heard: string[] = []
      const both = Promise.withResolvers<void>()
      const listening = await sql.listen('news', (said) => {
        if (heard.push(said) === 2) both.resolve()
      })
      await sql.begin((own) => ['one', 'two'].map((news) => own`select pg_notify('news', ${news})`))
      await both.promise
      assert.deepEqual(heard, ['one', 'two'])
      await listening.unlisten()
    } finally {
      await sql.end({ timeout: 5 })
    }
  })

  test('Drizzle: migrations are applied once, and a distance is ordered by', async () => {
    const folder = migrationsFolder()
    const points = pgTable('points', {
      id: serial().primaryKey(),
      name: text().notNull(),
      place: vector({ dimensions: 3 }).notNull(),
    })
    try {
      await usingPool({ max: 2 }, async (pool) => {
        const database = drizzle({ client: pool })
        for (const _ of [1, 2]) await migrate(database, { migrationsFolder: folder })
        await database.insert(points).values([
          { name: 'far', place: [9, 9, 9] },
          { name: 'near', place: [1, 0.1, 0] },
        ])
        const found = await database
          .select({ name: points.name })
          .from(points)
          .orderBy(cosineDistance(points.place, [1, 0, 0]))
        assert.deepEqual(found, [{ name: 'near' }, { name: 'far' }])
        const applied = await pool.query('select from drizzle.__drizzle_migrations')
        assert.equal(applied.rowCount, 1)
      })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('a database that is deleted refuses its own connection string', async () => {
    const gone = await call(`/v1/databases/${NAME}`, { method: 'DELETE' })
    assert.ok(gone.ok, await gone.clone().text())
    const deadline = performance.now() + DEPLOYED_MAX_MS
    const refusal = () =>
      usingPg({}, () => Promise.resolve('connected')).catch(({ code }: { code: string }) => code)
    for (let code = ''; code !== '28P01'; await pause(50)) {
      code = await refusal()
      assert.ok(performance.now() < deadline, code)
    }
  })
})

/** A folder as drizzle-kit writes it. */
function migrationsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'acceptance-'))
  mkdirSync(join(folder, 'meta'))
  const entry = { idx: 0, version: '7', when: 1_700_000_000_000, tag: '0000_points' }
  const journal = {
    version: '7',
    dialect: 'postgresql',
    entries: [{ ...entry, breakpoints: true }],
  }
  writeFileSync(join(folder, 'meta/_journal.json'), JSON.stringify(journal))
  const statements = [
    'create extension if not exists vector;',
    'create table points (id serial primary key, name text not null, place vector(3) not null);',
  ]
  writeFileSync(join(folder, '0000_points.sql'), statements.join('\n--> statement-breakpoint\n'))
  return folder
}
