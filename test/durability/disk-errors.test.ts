// EIO and ENOSPC at the system calls of a gateway: never a 2xx for data that may not be on disk. A failed sync ends
// writing and not reading, a full disk ends only that write, an error of the journal ends the process.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { BUCKET } from './acts.ts'
import { openHarness, type Harness } from './crash-points.ts'
import { actWithError, failOnce, type DiskError, type Outcome } from './disk-errors.ts'
import { whyNoStrace } from './strace.ts'
import { openWorld, type World } from './world.ts'

const LONG = process.env['ERGON_LONG'] === '1'
const skip = whyNoStrace()
const timeout = 600_000

type Expected = Pick<Outcome, 'status' | 'next' | 'code'>
const FENCED: Expected = { status: 503, next: 503, code: undefined }
const REFUSED: Expected = { status: 507, next: 200, code: undefined }
const NOT_MADE: Expected = { status: 500, next: 200, code: undefined }
const ENDED: Expected = { status: undefined, next: undefined, code: 74 }
const FILE = 'put into a file'
const ROW = 'put into the row'

type Case = DiskError & { readonly journalSync?: true; readonly expected: Expected }
const SHORT: readonly Case[] = [
  { act: FILE, call: 'fdatasync', error: 'EIO', at: 1, expected: FENCED },
  { act: FILE, call: 'pwritev', error: 'ENOSPC', at: 1, expected: REFUSED },
  { act: ROW, call: 'pwrite64', error: 'EIO', at: 1, expected: ENDED },
]
const MORE: readonly Case[] = [
  { act: ROW, call: 'fdatasync', error: 'EIO', at: 1, journalSync: true, expected: ENDED },
  { act: FILE, call: 'pwritev', error: 'EIO', at: 1, expected: FENCED },
  { act: FILE, call: 'fdatasync', error: 'ENOSPC', at: 1, expected: FENCED },
  { act: FILE, call: 'fsync', error: 'EIO', at: 1, expected: FENCED },
  { act: FILE, call: 'openat', error: 'ENOSPC', at: 1, expected: REFUSED },
  { act: FILE, call: 'openat', error: 'EIO', at: 1, expected: NOT_MADE },
  { act: FILE, call: 'openat', error: 'EIO', at: 2, expected: FENCED },
  { act: FILE, call: 'close', error: 'EIO', at: 2, expected: FENCED },
  { act: ROW, call: 'pwrite64', error: 'ENOSPC', at: 1, expected: ENDED },
  { act: 'part', call: 'fdatasync', error: 'EIO', at: 1, expected: FENCED },
  { act: 'part', call: 'pwritev', error: 'ENOSPC', at: 1, expected: REFUSED },
  { act: 'overwrite', call: 'fdatasync', error: 'EIO', at: 1, expected: FENCED },
  { act: 'put a version', call: 'fsync', error: 'EIO', at: 1, expected: FENCED },
  { act: 'complete', call: 'pwrite64', error: 'EIO', at: 1, expected: ENDED },
  { act: 'delete', call: 'pwrite64', error: 'ENOSPC', at: 1, expected: ENDED },
]

let world: World
/** With a gateway that has seen no error: a case ends with a new one. */
let spare: Harness | undefined
before(async () => {
  if (skip === false) world = await openWorld()
})
after(async () => {
  if (skip !== false) return
  await spare?.gateway.stop()
  await world[Symbol.asyncDispose]()
})

async function failed(error: DiskError, journalSync = false): Promise<Outcome> {
  const found = spare
  spare = undefined
  const isLike = found?.options.journalSync === journalSync
  if (!isLike) await found?.gateway.stop()
  const harness = isLike ? found : await openHarness(world, { journalSync })
  const outcome = await failOnce(harness, error)
  spare = harness
  return outcome
}

for (const { journalSync = false, expected, ...error } of LONG ? [...SHORT, ...MORE] : SHORT)
  test(
    `${error.error} at ${error.call} ${error.at} of ${error.act}${journalSync ? ', journal=sync' : ''}`,
    { skip, timeout },
    async (t) => {
      const { hit, faults, ...outcome } = await failed(error, journalSync)
      t.diagnostic(hit[0] ?? '')
      assert.ok(hit.length > 0, 'nothing was injected')
      assert.deepEqual(outcome, expected)
      assert.deepEqual([...faults, ...(await world.faults())], [])
    },
  )

test('PostgreSQL cannot sync its log: no 2xx, and it recovers', { skip, timeout }, async () => {
  const error = { act: ROW, call: 'fdatasync', error: 'EIO', at: 1, of: 'postgres' } as const
  const { hit, faults, status = 0, next, code } = await failed(error)
  assert.ok(hit.length > 0, 'nothing was injected')
  assert.equal(status, 503)
  assert.deepEqual([next, code], [200, undefined])
  assert.deepEqual([...faults, ...(await world.faults())], [])
})

test('the harness finds a gateway that hears no errors', { skip, timeout }, async () => {
  await spare?.gateway.stop()
  spare = undefined
  const harness = await openHarness(world, { planted: ['deaf'] })
  const error = { act: FILE, call: 'fdatasync', error: 'EIO', at: 1 } as const
  const { answer, hit } = await actWithError(harness, error, `${BUCKET}/deaf`)
  await harness.gateway.kill()
  assert.ok(hit.length > 0, 'nothing was injected')
  assert.equal(answer?.status, 200, 'a planted bug was not seen')
})
