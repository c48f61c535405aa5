import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'

import { lockFile } from './lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'ergon-lock-'))
after(() => rmSync(folder, { recursive: true }))

test('lockFile() refuses a held lock at once, or waits for it when given a signal', async () => {
  const path = join(folder, 'lock')
  const held = await lockFile(path)
  await assert.rejects(lockFile(path), { code: 'locked' })
  const order: string[] = []
  const waiting = lockFile(path, AbortSignal.timeout(20_000)).then((lock) => {
    order.push('taken')
    return lock
  })
  await assert.rejects(lockFile(path), { code: 'locked' })
  order.push('released')
  await held.release()
  await held.release()
  await using _ = await waiting
  assert.deepEqual(order, ['released', 'taken'])
})

test('lockFile() stops waiting with the reason of its signal', async () => {
  const path = join(folder, 'other')
  await using _ = await lockFile(path)
  const abort = new AbortController()
  const waiting = lockFile(path, abort.signal)
  abort.abort(new RangeError('enough'))
  await assert.rejects(waiting, RangeError)
})
