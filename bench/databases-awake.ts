// Servers of databases that wake, stay awake and sleep: the time to a first row, and the memory of many of them.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { readProcesses, readArguments, readTree } from '#cells/process-table.ts'
import { DATABASES_MAX } from '#contract/databases/databases-max.ts'
import { cellOf, withoutTls } from '../test/databases/programs.ts'
import type { Ergon } from '../test/start-ergon.ts'
import { pssMib } from './processes.ts'

const ASLEEP_MAX_MS = 30_000
const LOOK_MS = 20
const MAKERS = 4

/** Milliseconds from the connect to the first row of a database that was asleep, each after the other. */
export async function wakes(ergon: Ergon, url: string, times: number): Promise<number[]> {
  const took: number[] = []
  for (let left = times; left > 0; left--) {
    await asleep(ergon, url)
    const beganMs = performance.now()
    const client = await connect(url)
    await client.query('select 1')
    took.push(performance.now() - beganMs)
    await client.end()
  }
  return took
}

/** Resolves when the server of a database has stopped; with the number of its processes that are left. */
export async function asleep(ergon: Ergon, url: string): Promise<number> {
  const cell = cellOf(url)
  const lastMs = performance.now() + ASLEEP_MAX_MS
  const socket = join(ergon.runFolder, 'databases', cell, '.s.PGSQL.5432')
  while (existsSync(socket) || (await leaderOf(ergon, cell)) !== undefined) {
    if (performance.now() > lastMs) throw new Error(`${cell} does not fall asleep`)
    await pause(LOOK_MS)
  }
  return readProcesses().filter(({ pid }) => readArguments(pid).join(' ').includes(cell)).length
}

async function leaderOf(ergon: Ergon, cell: string): Promise<number | undefined> {
  const { cells } = await ergon.control('node.status')
  return cells.find(({ name }) => name === cell)?.launcher_pid ?? undefined
}

/** PSS in MiB and processes of each of so many databases, while a session of each is open. */
export async function awake(ergon: Ergon, count: number): Promise<{ mib: number; all: number }[]> {
  const urls: string[] = []
  for (let left = count; left > 0; left -= DATABASES_MAX)
    urls.push(...(await databasesOfAnAccount(ergon, Math.min(left, DATABASES_MAX))))
  const clients: pg.Client[] = []
  try {
    for (const url of urls) {
      const client = await connect(url)
      clients.push(client)
      await client.query('select count(*) from pg_class')
    }
    const sizes: { mib: number; all: number }[] = []
    for (const url of urls) {
      const leader = await leaderOf(ergon, cellOf(url))
      const tree = leader === undefined ? [] : readTree({ leader })
      const mib = tree.reduce((sum, { pid }) => sum + (pssMib(pid) ?? 0), 0)
      sizes.push({ mib, all: tree.length })
    }
    return sizes
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: withoutTls(url) })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** New databases of a new account, some at once. */
async function databasesOfAnAccount(ergon: Ergon, count: number): Promise<string[]> {
  const { id: account } = await ergon.control('account.create', {})
  await ergon.control('funds.add', { account, pusd: '1000000000000000' })
  const { token } = await ergon.control('token.create', { account, scope: 'deploy' })
  const call = async (path: string, body?: object) => {
    const answer = await fetch(`${ergon.baseUrl}/v1/databases${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.json()) as { status?: string; url?: string }
  }
  const names = Array.from({ length: count }, (_, nth) => `many-${nth}`)
  const urls: string[] = []
  const maker = async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      await call('', { name })
      while ((await call(`/${name}`)).status !== 'deployed') await pause(LOOK_MS)
      urls.push((await call(`/${name}/url`)).url ?? '')
    }
  }
  await Promise.all(Array.from({ length: MAKERS }, maker))
  return urls
}
