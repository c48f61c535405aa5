// Others fill the disk under a running database. Its writers get 53100 or lose their server, and its acknowledged rows stay.
// It goes on by itself when there is room, and no other database feels it. The files of one database are moved to a small
// disk of their own, as if that were the disk of the node.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { bookFaults } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { startCanary, type Canary } from './canary.ts'
import { makeDatabase, until, withClient } from './driver.ts'

product(PLAIN)

const NAME = 'on_a_full_disk'
const DISK_MIB = 160
const ROWS_MAX = 20_000
/** Written when the disk is filled. */
const ROWS = 40
const REFUSED = /^(53100|57P0[123]|25006|ECONNRESET)$/

let url: URL
let folder = ''
let canary: Canary
let skip = 'nothing may be mounted here: needs root and CAP_SYS_ADMIN'
before(async () => {
  url = await makeDatabase(sharedErgon(), NAME)
  folder = join(sharedErgon().dataFolder, 'databases', `db_${url.username.slice(2)}`)
  await switchTo('suspended')
  if (moveToSmallDisk()) skip = ''
  await switchTo('deployed')
  canary = await startCanary(sharedErgon())
})
after(async () => {
  await canary?.stop().catch(() => undefined)
  if (skip !== '') return
  await switchTo('suspended')
  execFileSync('umount', ['--lazy', folder])
})

type Shown = { readonly status: string; readonly full: boolean }
const shown = async () =>
  JSON.parse((await sharedErgon().cli('db', 'show', NAME, '--json')).stdout) as Shown

async function switchTo(status: 'suspended' | 'deployed'): Promise<void> {
  await sharedErgon().cli('db', status === 'suspended' ? 'suspend' : 'resume', NAME)
  await until(status, async () => (await shown()).status === status)
}

/** False where nothing may be mounted. */
function moveToSmallDisk(): boolean {
  const beside = mkdtempSync(join(tmpdir(), 'ergon-disk-'))
  const copy = (from: string, to: string) => execFileSync('cp', ['-a', `${from}/.`, to])
  try {
    copy(folder, beside)
    const options = ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', folder]
    execFileSync('mount', options, { stdio: 'ignore' })
    copy(beside, folder)
    return true
  } catch {
    return false
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

/** Takes all space of the disk; the result gives it back. */
function fill(): () => void {
  const { bavail, bsize } = statfsSync(folder)
  const filler = join(folder, 'filler')
  execFileSync('fallocate', ['--length', String(bavail * bsize), filler])
  return () => rmSync(filler)
}

/** Inserts rows until one is refused: the number of them, and why not more. */
async function write(most: number, onRow: (rows: number) => void = () => undefined) {
  let row = 0
  try {
    await withClient(url, async (writer) => {
      for (; row < most; row++) {
        await writer.query("insert into kept values ($1, repeat('x', 40000))", [row])
        onRow(row + 1)
      }
    })
  } catch (error) {
    return { rows: row, code: (error as { code?: string }).code ?? String(error) }
  }
  return { rows: row, code: undefined }
}

test('writers hear of a disk that is full, no acknowledged row is lost, and no other database feels it', async (t) => {
  if (skip !== '') return t.skip(skip)
  const neighbour = `db-${canary.database.slice(3)}`
  await withClient(url, (client) =>
    client.query(
      'create table kept (id int, body text); alter table kept alter body set storage external',
    ),
  )
  const before = await sharedErgon().pidOf(neighbour)
  let empty: () => void = () => undefined
  // No byte is left: the files of a writer cannot grow, and the settings of the server cannot be written.
  const { rows: written, code } = await write(ROWS_MAX, (rows) => {
    if (rows === ROWS) empty = fill()
  })
  t.diagnostic(`${written} rows, then ${code}`)
  assert.match(code ?? '', REFUSED)
  assert.ok(written >= ROWS)
  await until('it is told', async () => (await shown()).full)
  assert.match((await write(ROWS_MAX)).code ?? '', REFUSED)
  await withClient(url, async (reader) => {
    const { rows } = await reader.query<{ n: number }>('select count(*)::int as n from kept')
    assert.ok((rows[0]?.n ?? 0) >= written)
  })
  empty()
  await until('it is written again', async () => (await write(1)).rows === 1)
  await canary.stop()
  assert.equal(await sharedErgon().pidOf(neighbour), before)
  assert.deepEqual(await bookFaults(sharedErgon()), [])
})
