// Restores for tests, and the processes and the superuser of a server.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { superuserPasswordOf } from '#databases/logins/passwords.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './driver.ts'

export type RestoreDriver = {
  /** Runs a command that must succeed; all that it printed. */
  done(...words: readonly string[]): Promise<string>
  /** Runs a command that must fail; its words. */
  refused(...words: readonly string[]): Promise<string>
  /** The numbers in the table `kept` of a database. */
  rowsOf(name: string): Promise<number[]>
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
