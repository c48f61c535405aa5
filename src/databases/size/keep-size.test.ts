// The size of a database beside a real server: its limit, the space of the node, and growth that no writer explains.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { FatalError } from '#databases/proxy/wire.ts'
import {
  cachedInstall,
  quiet,
  startTestServer,
  whyNoServer,
  type TestServer,
} from '#postgres/testing.ts'
import { connectState, type State } from '#state/connect.ts'
import { keepSize } from './keep-size.ts'
import { readStored } from './stored.ts'

const skip = whyNoServer()
const WAIT_MS = 30_000
const GB = 1_000_000_000
/** A size of which a twentieth is not free. */
const NEARLY = 1.03

let server: TestServer
let state: State
let data: string
/** Files that count, and that no transaction writes. */
let grown: string
const connect = () =>
  connectState({
    address: { host: server.socketFolder, database: 'postgres', ...server.superuser },
    connections: 1,
    log: quiet,
  })
before(async () => {
  if (skip !== false) return
  server = await startTestServer(await cachedInstall())
  state = connect()
  data = join(server.folder, 'data')
  grown = join(data, 'pg_notify', 'grown')
  mkdirSync(grown)
  // So that files of the server's own make no difference.
  writeFileSync(join(grown, 'first'), Buffer.alloc(10_000_000))
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < lastMs, what)
    await pause(10)
  }
}

type Cut = { readonly fatal: FatalError; readonly pids: readonly number[] | undefined }

/** Keeps the size with a limit and a space that the test changes, until the end of the test. */
function keeping(limits: { sizeBytes: number; spaceBytes: number }) {
  const cuts: Cut[] = []
  const found: (string | undefined)[] = []
  const ending = new AbortController()
  const kept = keepSize(
    {
      folder: server.folder,
      log: quiet,
      connect,
      sizeBytes: () => limits.sizeBytes,
      spaceBytes: () => limits.spaceBytes,
      cut: (fatal, pids) => void cuts.push({ fatal, pids }),
      found: async (_, full) => void found.push(full?.message),
    },
    ending.signal,
  )
  return {
    cuts,
    found,
    async [Symbol.asyncDispose]() {
      ending.abort()
      await kept
    },
  }
}

const isReadOnly = async (): Promise<boolean> => {
  const { rows } = await state.query<{ setting: string }>(
    "select setting from pg_settings where name = 'default_transaction_read_only'",
  )
  return rows[0]?.setting === 'on'
}

test(
  'without space on the node a database is read, says why, and writes again with the first byte',
  { skip },
  async () => {
    // Nearly full: a full database would wait for more room than this.
    const { bytes } = readStored(data)
    const limits = { sizeBytes: NEARLY * bytes, spaceBytes: GB }
    await using kept = keeping(limits)
    await until('it is measured', () => kept.found.length > 0)
    assert.deepEqual(kept.found, [undefined])
    limits.spaceBytes = 0
    await until('it is full', isReadOnly)
    await until('it is told', () => kept.found.includes('the disk of the node is full'))
    limits.spaceBytes = 1
    await until('it is open again', async () => !(await isReadOnly()))
    await until('it is told again', () => kept.found.at(-1) === undefined)
    // A full database waits for a twentieth of its size.
    limits.spaceBytes = GB
    limits.sizeBytes = readStored(data).bytes
    await until('it is full', isReadOnly)
    limits.sizeBytes = NEARLY * limits.sizeBytes
    await pause(300)
    assert.ok(await isReadOnly())
    limits.sizeBytes *= 2
    await until('it is open again', async () => !(await isReadOnly()))
  },
)

test('a full database that grows without a writer ends all of its sessions', { skip }, async () => {
  const limits = { sizeBytes: readStored(data).bytes, spaceBytes: GB }
  await using kept = keeping(limits)
  await until('it is full', isReadOnly)
  kept.cuts.length = 0
  // As NOTIFY with a session that never reads: files grow, and no transaction has written.
  for (let nth = 0; nth < 200 && kept.cuts.length === 0; nth++) {
    writeFileSync(join(grown, String(nth)), Buffer.alloc(2_000_000))
    await pause(30)
  }
  const [{ fatal, pids } = assert.fail('no session was ended')] = kept.cuts
  assert.deepEqual([fatal.code, pids], ['53100', undefined])
})
