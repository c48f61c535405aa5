// Clients of a database that insert rows, each on a connection of its own that is opened anew after an error. They
// remember the rows that were acknowledged.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/** The acknowledged rows, and the next number: none is ever used twice. */
export type KeptRows = { readonly rows: Set<number>; next: number }

export interface Writers {
  /** Resolves when so many rows more are acknowledged. */
  more(rows: number): Promise<void>
  /** Resolves when the last row has ended: no other is begun. */
  stop(): Promise<void>
}

export type Target = Pick<
  pg.ClientConfig,
  'host' | 'port' | 'user' | 'password' | 'database' | 'ssl'
>

/** A server that is away is asked again after this. */
const AGAIN_MS = 20
const CONNECT_MAX_MS = 10_000
/** A row that takes longer is not acknowledged. */
const ANSWER_MAX_MS = 20_000
const MORE_MAX_MS = 120_000
const POLL_MS = 5

export const noRows = (): KeptRows => ({ rows: new Set(), next: 0 })

/** `settings` is a statement that begins each session of a writer. */
export function startWriters(
  target: Target,
  kept: KeptRows,
  { writers, settings }: { readonly writers: number; readonly settings?: string | undefined },
): Writers {
  const ending = new AbortController()
  const write = async (): Promise<void> => {
    const client = await connected(target)
    try {
      if (settings !== undefined) await client.query(settings)
      while (!ending.signal.aborted) {
        const row = kept.next++
        await client.query('insert into kept values ($1)', [row])
        kept.rows.add(row)
      }
    } finally {
      await client.end().catch(() => undefined)
    }
  }
  const writeOn = async (): Promise<void> => {
    while (!ending.signal.aborted) await write().catch(() => pause(AGAIN_MS))
  }
  const running = Promise.all(Array.from({ length: writers }, writeOn))
  return {
    async more(wanted) {
      const last = performance.now() + MORE_MAX_MS
      for (const from = kept.rows.size; kept.rows.size - from < wanted; await pause(POLL_MS))
        if (performance.now() > last)
          throw new Error(`only ${kept.rows.size - from} rows were acknowledged`)
    },
    async stop() {
      ending.abort()
      await running
    },
  }
}

export async function makeTable(target: Target): Promise<void> {
  await asked(target, 'create table kept (row bigint primary key)')
}

/** Rows that were acknowledged before the call and are not there. */
export async function lostRows(target: Target, kept: KeptRows): Promise<number[]> {
  const wanted = [...kept.rows]
  const found = new Set((await asked(target, 'select row::int from kept')).map(({ row }) => row))
  return wanted.filter((row) => !found.has(row))
}

/** Tries again while the server is away. */
async function asked(target: Target, sql: string): Promise<{ readonly row: number }[]> {
  for (const last = performance.now() + MORE_MAX_MS; ; await pause(AGAIN_MS))
    try {
      const client = await connected(target)
      try {
        return (await client.query<{ row: number }>(sql)).rows
      } finally {
        await client.end().catch(() => undefined)
      }
    } catch (error) {
      if (performance.now() > last) throw error
    }
}

async function connected(target: Target): Promise<pg.Client> {
  const client = new pg.Client({
    ...target,
    connectionTimeoutMillis: CONNECT_MAX_MS,
    query_timeout: ANSWER_MAX_MS,
  })
  client.on('error', () => undefined)
  await client.connect()
  return client
}
