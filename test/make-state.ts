// A state as a first start leaves it before anybody is in it: PostgreSQL's files, with all tables, those of
// graphile-worker too (0.1 s of CPU). Functions come with each start.
import { execFileSync } from 'node:child_process'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runMigrations } from 'graphile-worker'
import { cachedInstall, quiet, startTestServer } from '#postgres/testing.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { connectState, openPool } from '#state/connect.ts'
import { migrate } from '#state/migrate.ts'
import { jobsSchema } from '#tasks/jobs-schema.ts'

/** As the product's own: its commands expect whole segments of this size. */
const WAL_SEGMENT_MB = 16
const SETTINGS = { fsync: 'off', min_wal_size: '32MB', max_wal_size: '64MB' }

/** Makes it in a folder that is absent; one that a crash cut off never gets its name. */
export async function makeState(folder: string): Promise<void> {
  await using server = await startTestServer(await cachedInstall(), SETTINGS, {
    walSegmentMb: WAL_SEGMENT_MB,
  })
  const { user, password } = server.superuser
  {
    const address = { host: server.socketFolder, user, password, database: 'postgres' }
    await using state = connectState({ address, connections: 1, log: quiet })
    await migrate(
      state,
      SCHEMAS.map((schema) => ({ ...schema, functions: [] })),
    )
    const pool = openPool({ address, connections: 1, log: quiet })
    // As its check of pools wants it; the pool itself has no use of it.
    pool.on('connect', (client) => client.on('error', () => undefined))
    try {
      await runMigrations({ pgPool: pool, schema: (await jobsSchema(state)).name })
    } finally {
      await pool.end()
    }
    // No product makes a database of its state: each start of a test copies 570 files less.
    await state.query('update pg_database set datistemplate = false')
    for (const name of ['template0', 'template1']) await state.query(`drop database ${name}`)
  }
  await server.stop()
  const part = `${folder}.part`
  rmSync(part, { recursive: true, force: true })
  // Ours then, as initdb's would be: the product gives it to a user of its own.
  execFileSync('cp', ['-R', '--preserve=mode,timestamps', server.folder, part], { stdio: 'pipe' })
  rmSync(join(part, 'postmaster.opts'), { force: true })
  renameSync(part, folder)
}
