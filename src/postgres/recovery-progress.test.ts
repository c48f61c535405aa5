// The words about a server that recovers, of a real one that was killed with much log behind its last checkpoint.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { recoveryProgress } from './recovery-progress.ts'
import { cachedInstall, startTestServer, whyNoServer } from './testing.ts'

/** The children of a process, whatever runs between. */
function below(pid: number): number[] {
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
  const of = (one: number): number[] => [
    one,
    ...parents.filter(([, parent]) => parent === one).flatMap(([child]) => of(child)),
  ]
  return of(pid)
}

test(
  'recoveryProgress() names each file of the log that a server replays, and nothing once it answers',
  { skip: whyNoServer() },
  async () => {
    const settings = { max_wal_size: '1GB', checkpoint_timeout: '1h' }
    await using server = await startTestServer(await cachedInstall(), settings)
    const made = await server.psql(
      `checkpoint; create table kept as select repeat(md5(n::text), 20) from generate_series(1, 100000) n`,
    )
    assert.equal(made.code, 0, made.stderr)
    const ended = once(server.child, 'exit')
    server.child.kill('SIGKILL')
    await ended
    server.restart()
    const words = new Set<string>()
    const ready = server.ready().then(() => true)
    while (!(await Promise.race([ready, turn(false)]))) {
      const word = recoveryProgress(below(server.child.pid ?? 0))
      if (word !== undefined) words.add(word)
    }
    const files = [...words].filter((word) => /startup recovering [0-9A-F]{24}$/.test(word))
    assert.ok(files.length > 1, [...words].join())
    assert.equal(recoveryProgress(below(server.child.pid ?? 0)), undefined)
  },
)

/** The folder of the tables of a new database has some hundred files more. */
const MORE_TABLES = 1500
const ROUNDS_MAX = 10

test(
  'recoveryProgress() names each file that a server syncs before it replays its log',
  { skip: whyNoServer() },
  async () => {
    await using server = await startTestServer(await cachedInstall(), { checkpoint_timeout: '1h' })
    const made = await server.psql(
      `do $$ begin for n in 1 .. ${MORE_TABLES} loop
         execute format('create table kept_%s (n int primary key)', n);
         if n % 100 = 0 then commit; end if;
       end loop; end $$`,
    )
    assert.equal(made.code, 0, made.stderr)
    const words = new Set<string>()
    const files = () => [...words].filter((word) => word.includes('/data/base/'))
    // A fast disk syncs all files between a few looks.
    for (let round = 0; round < ROUNDS_MAX && files().length <= 5; round++) {
      const ended = once(server.child, 'exit')
      server.child.kill('SIGKILL')
      await ended
      server.restart()
      const ready = server.ready().then(() => true)
      let startup: number | undefined
      while (!(await Promise.race([ready, turn(false)]))) {
        startup ??= below(server.child.pid ?? 0).find(
          (pid) => recoveryProgress([pid]) !== undefined,
        )
        const word = startup === undefined ? undefined : recoveryProgress([startup])
        if (word !== undefined && !word.includes('recovering')) words.add(word)
      }
    }
    assert.ok(files().length > 5, [...words].join('\n'))
  },
)
