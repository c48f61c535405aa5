// Files of restores that nobody waits for: of a kill, between their last byte and the row that says so.
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Queryable } from '#state/connect.ts'

/** Removes all but the files that wait for their servers. No restore may be under way. */
export async function sweepRestored(state: Queryable, folder: string): Promise<void> {
  // The first restore of a node makes it.
  if (!existsSync(folder)) return
  const { rows } = await state.query<{ database: string }>(
    "select database from database_restores where status = 'unpacked'",
  )
  const waiting = new Set(rows.map(({ database }) => database))
  for (const name of await readdir(folder))
    if (!waiting.has(name)) await rm(join(folder, name), { recursive: true, force: true })
}
