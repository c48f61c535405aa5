import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { untilIdle } from './until-idle.ts'

async function serve(answer: (write: (bytes: Buffer) => boolean, end: () => void) => void) {
  const folder = await mkdtemp(join(tmpdir(), 'idle-'))
  const socketPath = join(folder, 's')
  let questions = 0
  const server = createServer((_request, response) => {
    questions++
    answer(
      (bytes) => response.write(bytes),
      () => response.end(),
    )
  })
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve))
  return {
    socketPath,
    questions: () => questions,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

test('untilIdle() asks once for all who wait, and again afterwards', async () => {
  const ends: (() => void)[] = []
  await using served = await serve((_write, end) => void ends.push(end))
  const waiting = Array.from({ length: 100 }, () => untilIdle(served.socketPath))
  while (ends.length === 0) await new Promise(setImmediate)
  ends[0]?.()
  await Promise.all(waiting)
  assert.equal(served.questions(), 1)
  const again = untilIdle(served.socketPath)
  while (ends.length === 1) await new Promise(setImmediate)
  ends[1]?.()
  await again
})

test(
  'untilIdle() does not wait for code that answers without end',
  { timeout: 10_000 },
  async () => {
    await using served = await serve((write) => void write(Buffer.alloc(100_000)))
    await untilIdle(served.socketPath)
  },
)

test('untilIdle() resolves where nobody listens', async () => {
  await untilIdle(join(tmpdir(), 'no-such-socket'))
})
