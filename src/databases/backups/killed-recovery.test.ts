// Recoveries of restored clusters that are killed at each instant of their end, by real servers. The next server ends the
// recovery, or is served where the recovery has ended.
import assert from 'node:assert/strict'
import { execFileSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { sleep } from '#base/clock.ts'
import { readArguments, readTree } from '#cells/process-table.ts'
import { postgresCell } from '#postgres/postgres-cell.ts'
import {
  cachedInstall,
  quiet,
  startTestServer,
  whyNoServer,
  type TestServer,
} from '#postgres/testing.ts'
import { connectState } from '#state/connect.ts'
import { lastRecord } from './last-record.ts'
import type { LogPiece } from './plan.ts'
import { adopt } from './restored.ts'
import { positionOf, positionText, SEGMENT_BYTES, segmentName, segmentStart } from './wire.ts'

const skip = whyNoServer()
const SETTINGS = { hot_standby: 'off', autovacuum: 'off' }
const LOOK_MS = 20
const LOOKS_MAX = 3000
const ALL_ROWS = 'array(select n from kept order by n)'

/**
 * A recovery halts in its commands, which PostgreSQL calls with the name of what they are asked for, where the file `halt`
 * has that name. The history of the source is asked for behind the removal of recovery.signal. The last command comes
 * behind the last checkpoint.
 */
const HOOK = `[ "$1" = "$(cat "$0.halt")" ] && [ "$1" != 00000001.history -o ! -e recovery.signal ] && {
  : >"$0.halted"
  while [ -e "$0.halt" ]; do sleep 0.02; done
}
exit 1
`

let server: TestServer
let at: (...words: string[]) => string
/** In a folder of the server's user. */
let hook: string
/** The end of a record that the recovery of the whole log reaches. */
let least: string
/** Between the last two rows. */
let between: string
let secondSegment: string
before(async () => {
  if (skip !== false) return
  server = await startTestServer(await cachedInstall(), { ...SETTINGS, wal_keep_size: '64MB' })
  at = (...words) => join(dirname(server.folder), ...words)
  hook = join(server.socketFolder, 'hook')
  await ask('create table kept as select 1 as n')
  const begin = segmentStart(positionOf(await ask('select pg_current_wal_flush_lsn()')))
  secondSegment = segmentName(1, begin + BigInt(SEGMENT_BYTES))
  await server.stop()
  execFileSync('cp', ['-a', server.folder, at('restored')])
  server.restart()
  await server.ready()
  await ask('insert into kept select 4 from generate_series(1, 20000)')
  await ask('delete from kept where n = 4')
  await ask('insert into kept values (2)')
  between = await ask('select clock_timestamp()')
  await ask('insert into kept values (3)')
  const end = positionOf(await ask('select pg_current_wal_flush_lsn()'))
  await server.stop()
  const log = at('restored', 'data', 'pg_wal')
  for (let from = begin; from < end; from += BigInt(SEGMENT_BYTES)) {
    execFileSync('cp', ['-p', at('cluster', 'data', 'pg_wal', segmentName(1, from)), log])
  }
  least = positionText(await lastRecord(log, [{ begin, end, timeline: 1 } as LogPiece]))
  writeFileSync(at('restored', 'data', 'recovery.signal'), '')
  writeFileSync(hook, HOOK)
  writeFileSync(
    at('restored', 'data', 'postgresql.auto.conf'),
    `restore_command = 'sh ${hook} %f'
    recovery_end_command = 'sh ${hook} end'
    recovery_target_action = 'promote'\n`,
  )
})
after(async () => await server?.[Symbol.asyncDispose]())

const connect = (database: string) =>
  connectState({
    address: { host: server.socketFolder, database, ...server.superuser },
    connections: 1,
    log: quiet,
  })

async function ask(sql: string): Promise<string> {
  const { code, stdout, stderr } = await server.psql(sql)
  assert.equal(code, 0, stderr)
  return stdout.trim()
}

async function until(holds: () => boolean): Promise<void> {
  for (let nth = 0; !holds(); nth++) {
    assert.ok(nth < LOOKS_MAX)
    await sleep(LOOK_MS)
  }
}

const isThere = (name: string) => existsSync(at('cluster', 'data', name))
const HISTORY = 'pg_wal/00000002.history'

/** A server of the restored files, as the first one of a database or as any other. */
function start(recovers: boolean): ChildProcess {
  const { argv } = postgresCell({
    install: server.install,
    name: 'test',
    folder: server.folder,
    socketFolder: server.socketFolder,
    socketGroup: 'test',
    payer: { kind: 'operator' },
    settings: { shared_buffers: '16MB', ...SETTINGS },
    recovers,
  })
  return server.spawn(argv)
}

const pidsOf = ({ pid = 0 }: ChildProcess) => [
  pid,
  ...readTree({ leader: pid }).flatMap((one) => (one.pid === pid ? [] : [one.pid])),
]
const checkpointerOf = (child: ChildProcess) =>
  pidsOf(child).find((pid) => readArguments(pid)[0]?.includes('checkpointer')) ?? assert.fail()

const hasEnded = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode !== null || signalCode !== null

/** The first process ends first: it sees no end of another one. */
async function killAll(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  for (const pid of pidsOf(child))
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH')
    }
  await ended
}

async function haltedAt(name: string): Promise<ChildProcess> {
  writeFileSync(`${hook}.halt`, name)
  const child = start(true)
  await until(() => existsSync(`${hook}.halted`))
  return child
}

function goOn(): void {
  rmSync(`${hook}.halt`, { force: true })
  rmSync(`${hook}.halted`, { force: true })
}

/** The signal is gone, and the history is there; the last checkpoint has not begun. */
async function beforeCheckpoint(): Promise<ChildProcess> {
  const child = await haltedAt('00000001.history')
  process.kill(checkpointerOf(child), 'SIGSTOP')
  goOn()
  await until(() => isThere(HISTORY))
  return child
}

/** Each resolves when the server has ended. */
const INSTANTS: Readonly<Record<string, () => Promise<void>>> = {
  async 'amid the log'() {
    const child = await haltedAt(secondSegment)
    assert.ok(isThere('recovery.signal'))
    await killAll(child)
  },
  async 'behind the removal of recovery.signal'() {
    const child = await haltedAt('00000001.history')
    assert.deepEqual([isThere('recovery.signal'), isThere(HISTORY)], [false, false])
    await killAll(child)
  },
  async 'behind the removal of recovery.signal, by a stop in order'() {
    const child = await haltedAt('00000001.history')
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    goOn()
    await ended
  },
  async 'before the last checkpoint'() {
    await killAll(await beforeCheckpoint())
  },
  async 'before the last checkpoint, in its process alone'() {
    const child = await beforeCheckpoint()
    const ended = once(child, 'exit')
    process.kill(checkpointerOf(child), 'SIGKILL')
    await Promise.race([ended, server.ready()])
    await killAll(child)
  },
  async 'behind the last checkpoint'() {
    await killAll(await haltedAt('end'))
  },
  async 'once it answers'() {
    const child = start(true)
    await server.ready()
    await killAll(child)
  },
}

/** The rows that a database has after its recovery was cut off, and the timeline of its server. */
async function recovered(
  instant: () => Promise<void>,
  { settings = '', recovers = true } = {},
): Promise<readonly string[]> {
  rmSync(server.folder, { recursive: true })
  execFileSync('cp', ['-a', at('restored'), server.folder])
  appendFileSync(at('cluster', 'data', 'postgresql.auto.conf'), settings)
  if (server.owner !== undefined)
    execFileSync('chown', ['-R', `${server.owner.uid}:${server.owner.gid}`, server.folder])
  await instant()
  goOn()
  const child = start(recovers)
  try {
    await server.ready()
    const names = { name: 'absent', owner: 'absent' }
    await adopt(connect, { ...names, least, behind: null }, names)
    return [
      await ask(`select ${ALL_ROWS}`),
      await ask('select left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)'),
    ]
  } finally {
    await killAll(child)
  }
}

for (const [when, instant] of Object.entries(INSTANTS))
  test(
    `a recovery that is killed ${when} ends at the next start, with all rows or those before its time`,
    { skip },
    async () => {
      assert.deepEqual(await recovered(instant), ['{1,2,3}', '00000002'])
      const settings = `recovery_target_time = '${between}'\n`
      assert.deepEqual(await recovered(instant, { settings }), ['{1,2}', '00000002'])
    },
  )

test(
  'a server that is started as any other behind such a kill is found in the log of the source',
  { skip },
  async () => {
    for (const when of ['behind the removal of recovery.signal', 'before the last checkpoint'])
      await assert.rejects(
        recovered(INSTANTS[when] ?? assert.fail(), { recovers: false }),
        /could not open file "pg_wal\/00000001.history"/,
      )
  },
)
