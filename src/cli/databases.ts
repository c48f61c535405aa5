// Functions that the commands of databases share.
import { apiGet } from './client.ts'
import { print } from './output.ts'
import type { GlobalOptions } from './profile.ts'

export type Database = {
  readonly name: string
  readonly status: string
  readonly reason: string | null
  readonly region: string
  readonly size_bytes: number
}

export const databasePath = (name: string): string => `/v1/databases/${encodeURIComponent(name)}`

export const getDatabase = async (options: GlobalOptions, name: string): Promise<Database> =>
  JSON.parse((await apiGet(options, databasePath(name))).text) as Database

export const urlOf = async (options: GlobalOptions, name: string): Promise<string> =>
  (JSON.parse((await apiGet(options, `${databasePath(name)}/url`)).text) as { url: string }).url

export function printDatabase(database: Database): void {
  for (const [key, value] of Object.entries(database))
    print(`${key.padEnd(12)} ${value === null ? '-' : String(value)}`)
}
