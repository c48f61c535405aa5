// kill -9 at each write, sync and removal of a journal's segments: every record whose figures may have left,
// and that the ledger does not have, is found, whole and in order. ERGON_LONG=1 takes all calls.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDisk } from '#charging/disk.ts'
import { readJournals } from '#charging/journal.ts'
import { journalRecord, RECORDS, SESSION } from './journal-records.ts'
import { whyNoStrace } from './strace.ts'

const LONG = process.env['ERGON_LONG'] === '1'
const CALLS = ['pwrite64', 'fdatasync', 'fsync', 'unlink']
/** The short form stops at the first calls of a name, and then at every so many. */
const STRIDE = LONG ? 1 : 6
const POINTS_MAX = 200
const WRITER = join(import.meta.dirname, 'journal-writer.ts')
const LATE = join(import.meta.dirname, 'planted', 'late-journal.ts')
const skip = whyNoStrace()
const timeout = 600_000

type Point = { readonly isKilled: boolean; readonly told: number; readonly faults: string[] }

function killAt(call: string, at: number, planted: readonly string[] = []): Point {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-journal-'))
  try {
    const traced = ['-f', '-o', '/dev/null', '-e', `trace=${call}`]
    const fault = ['-e', `inject=${call}:signal=SIGKILL:when=${at}`]
    const program = [process.execPath, ...planted, WRITER, folder]
    const { stdout, signal, status, stderr } = spawnSync(
      'strace',
      [...traced, ...fault, ...program],
      { encoding: 'utf8', env: { ...process.env, UV_THREADPOOL_SIZE: '1' } },
    )
    const isKilled = signal === 'SIGKILL'
    assert.ok(isKilled || status === 0, stderr)
    return { isKilled, ...judge(folder, stdout.split('\n')) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Compares the folder with the messages. */
function judge(folder: string, said: readonly string[]) {
  const told = Math.max(0, ...said.map(Number).filter((seq) => seq > 0))
  const posted = Math.max(0, ...said.map((line) => Number(/^posted (\d+)$/.exec(line)?.[1] ?? 0)))
  const left = readJournals(createDisk(folder)).filter(({ session }) => session === SESSION)
  const records = new Map(left.flatMap((each) => each.records).map((each) => [each.seq, each]))
  const faults = left.flatMap((each) => each.damaged.map((file) => `${file} is damaged`))
  for (let seq = posted + 1; seq <= told; seq++)
    if (!records.has(BigInt(seq))) faults.push(`record ${seq} was told and is gone`)
  for (const [seq, record] of records) {
    assert.deepEqual({ ...record, bytes: Buffer.from(record.bytes) }, journalRecord(Number(seq)))
    if (seq > BigInt(told + 1)) faults.push(`record ${seq} was never written`)
  }
  return { told, faults }
}

for (const call of CALLS)
  test(`kill -9 at ${call} loses no journaled record`, { skip, timeout }, (t) => {
    let kills = 0
    for (let at = 1; at <= POINTS_MAX; at += STRIDE) {
      const { isKilled, told, faults } = killAt(call, at)
      assert.deepEqual(faults, [], `${call} ${at}`)
      if (!isKilled) {
        assert.equal(told, RECORDS)
        assert.ok(kills > 0, 'nothing was hit')
        return t.diagnostic(`${kills} kills`)
      }
      kills++
    }
    assert.fail('it does not end')
  })

test('the harness finds a journal that is written late', { skip, timeout }, () => {
  const { isKilled, faults } = killAt('fdatasync', 2, ['--import', LATE])
  assert.ok(isKilled)
  assert.notDeepEqual(faults, [], 'a planted bug was not seen')
})
