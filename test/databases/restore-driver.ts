// Restores for tests, and the processes and the superuser of a server.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { readArguments, readTree } from '#cells/process-table.ts'
import { superuserPasswordOf } from '#databases/logins/passwords.ts'
import type { Ergon } from '../start-ergon.ts'
import { until, withClient } from './driver.ts'

export type RestoreDriver = {
  /** Runs a command that must succeed; all that it printed. */
  done(...words: readonly string[]): Promise<string>
  /** Runs a command that must fail; its words. */
  refused(...words: readonly string[]): Promise<string>
  /** The numbers in the table `kept` of a database. */
  rowsOf(name: string): Promise<number[]>
  /** Writes a number into the table `kept`; a time after its commit. */
  write(url: URL, n: number): Promise<Date>
  /** Resolves when the log of a server is known to be stored up to a time. */
  storedTo(url: URL, time: Date): Promise<void>
}

export function createRestoreDriver(ergon: () => Ergon): RestoreDriver {
  const done = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await ergon().cli(...words)
    assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
    return stdout + stderr
  }
  return {
    done,
    async refused(...words) {
      const { code, stdout, stderr } = await ergon().cli(...words)
      assert.notEqual(code, 0, `${words.join(' ')}: ${stdout}`)
      return stderr
    },
    async rowsOf(name) {
      const url = new URL((await ergon().cli('db', 'url', name)).stdout.trim())
      const { rows } = await withClient(url, (client) =>
        client.query<{ n: number }>('select n from kept order by n'),
      )
      return rows.map(({ n }) => n)
    },
    write: (url, n) =>
      withClient(url, async (client) => {
        await client.query('insert into kept values ($1)', [n])
        const { rows } = await client.query<{ now: Date }>(
          "select clock_timestamp() + interval '1 ms' as now",
        )
        return rows[0]?.now ?? assert.fail()
      }),
    storedTo: (url, time) =>
      until('the log is stored', async () => {
        const text = 'select from databases where id = $1 and log_stored_at > $2'
        return (await ergon().sql(text, [idOf(url), time])).length > 0
      }),
  }
}

export const idOf = (url: URL): string => `db_${url.username.slice(2)}`
export const cellOf = (url: URL): string => `db-${url.username.slice(2)}`

/** The processes of a server, its first one first. */
export async function serverPids(ergon: Ergon, url: URL): Promise<number[]> {
  const first = await ergon.pidOf(cellOf(url))
  const parents = readdirSync('/proc').flatMap((name) => {
    try {
      const [, parent = ''] =
        /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8')) ?? []
      return [[Number(name), Number(parent)] as const]
    } catch {
      // No process, or one that has ended.
      return []
    }
  })
  const below = (pid: number): number[] => [
    pid,
    ...parents.filter(([, parent]) => parent === pid).flatMap(([child]) => below(child)),
  ]
  return below(first)
}

const FIND_MS = 240_000
const STARTING_MS = 50

/** Resolves with a process of a server as soon as the process has such a title. */
export async function processOf(ergon: Ergon, cell: string, title: RegExp): Promise<number> {
  for (const lastMs = performance.now() + FIND_MS; performance.now() < lastMs;) {
    const { cells } = await ergon.control('node.status')
    const leader = cells.find(({ name }) => name === cell)?.launcher_pid ?? undefined
    if (leader === undefined) await pause(STARTING_MS)
    else {
      const tree = readTree({ leader })
      const found = tree.find(({ pid }) => title.test(readArguments(pid)[0] ?? ''))
      if (found !== undefined) return found.pid
      await pause(1)
    }
  }
  assert.fail(`no process of ${cell} was ${title}`)
}

/** Does work as the superuser of the server that runs. */
export async function asSuperuser<T>(
  ergon: Ergon,
  url: URL,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const secrets = readFileSync(join(ergon.dataFolder, 'secrets.json'), 'utf8')
  const { state } = JSON.parse(secrets) as { state: string }
  const superuser = new URL(url)
  superuser.username = 'postgres'
  return await withClient(superuser, work, {
    host: join(ergon.runFolder, 'databases', cellOf(url)),
    port: 5432,
    password: superuserPasswordOf(state),
    ssl: false,
  })
}
