// Logs that end amid a record, and a log of two histories, recovered by a real server.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
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
const PAGE = 8192
const SEGMENT = /^[0-9A-F]{24}$/
/** Records of a page's fourth, and one of a dozen pages. */
const ROWS = 'insert into kept select n from generate_series(1, 20000) n'
const LONG_RECORD = "select pg_logical_emit_message(false, 'test', repeat('x', 100000))"
const ALL_ROWS = 'array(select n from kept where n < 0 order by n desc)'

let server: TestServer
/** The first byte of the log that is needed from the copy of the files on. */
let begin: bigint
before(async () => {
  if (skip !== false) return
  const settings = { hot_standby: 'off', autovacuum: 'off', wal_keep_size: '64MB' }
  server = await startTestServer(await cachedInstall(), settings)
  await ask('create table kept as select -1 as n')
  begin = segmentStart(positionOf(await ask('select pg_current_wal_flush_lsn()')))
  await server.stop()
  execFileSync('cp', ['-a', server.folder, `${server.folder}.old`])
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

const logFolder = () => join(server.folder, 'data', 'pg_wal')

async function asBefore(): Promise<void> {
  await server.stop()
  rmSync(server.folder, { recursive: true })
  execFileSync('cp', ['-a', `${server.folder}.old`, server.folder])
}

/** The log of the old files and of what is written into them then. */
async function history(...statements: readonly string[]): Promise<Buffer> {
  await asBefore()
  server.restart()
  await server.ready()
  for (const sql of statements) await ask(sql)
  const end = positionOf(await ask('select pg_current_wal_flush_lsn()'))
  await server.stop()
  const parts: Buffer[] = []
  for (let at = begin; at < end; at += BigInt(SEGMENT_BYTES))
    parts.push(readFileSync(join(logFolder(), segmentName(1, at))))
  return Buffer.concat(parts).subarray(0, Number(end - begin))
}

/** Recovers the old files with a log, as the first server of a restored database does; its rows. */
async function recovered(log: Buffer): Promise<string> {
  await asBefore()
  for (const name of readdirSync(logFolder()).filter((one) => SEGMENT.test(one)))
    rmSync(join(logFolder(), name))
  for (let at = 0; at < log.length; at += SEGMENT_BYTES) {
    const segment = Buffer.alloc(SEGMENT_BYTES)
    log.copy(segment, 0, at)
    writeFileSync(join(logFolder(), segmentName(1, begin + BigInt(at))), segment)
  }
  const data = join(server.folder, 'data')
  writeFileSync(join(data, 'recovery.signal'), '')
  writeFileSync(join(data, 'postgresql.auto.conf'), "restore_command = 'false'\n")
  if (server.owner !== undefined)
    execFileSync('chown', ['-R', `${server.owner.uid}:${server.owner.gid}`, server.folder])
  const piece = { begin, end: begin + BigInt(log.length), timeline: 1 } as LogPiece
  const least = positionText(await lastRecord(logFolder(), [piece]))
  server.restart()
  await server.ready()
  const names = { name: 'absent', owner: 'absent' }
  await adopt(connect, { ...names, least, behind: null }, names)
  return await ask(`select ${ALL_ROWS}`)
}

test('a log that ends anywhere amid its records is recovered to its end', { skip }, async () => {
  const log = await history('insert into kept values (-2)', ROWS, LONG_RECORD, LONG_RECORD)
  const page = log.length - (log.length % PAGE)
  for (const end of [
    log.length,
    page,
    page + 8,
    page - 3 * PAGE,
    page - 3 * PAGE + 30,
    page - 40 * PAGE,
    page - 40 * PAGE + 5000,
  ])
    assert.equal(await recovered(log.subarray(0, end)), '{-1,-2}', `${log.length - end} bytes less`)
})

test('a log of two histories is no log of a restored database', { skip }, async () => {
  const [left, other] = [
    await history('insert into kept values (-2)', ROWS),
    await history('insert into kept values (-3)', LONG_RECORD, ROWS, ROWS),
  ]
  for (const end of [left.length, left.length - (left.length % PAGE)]) {
    const both = Buffer.concat([left.subarray(0, end), other.subarray(end)])
    await assert.rejects(recovered(both), /the recovery reached \S+, and not \S+$/)
  }
})
