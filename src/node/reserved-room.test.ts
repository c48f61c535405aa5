// Room of the disk that several pulls reserve at once.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createReservedRoom } from './reserved-room.ts'

const MB = 1_000_000
const BLOCK_BYTES = 512

/** Pulls on a disk of so many bytes, of which others see the blocks that a pull has. */
function open(t: TestContext, diskBytes: number) {
  const home = mkdtempSync(join(tmpdir(), 'reserved-room-'))
  t.after(() => rmSync(home, { recursive: true }))
  writeFileSync(join(home, '.lock'), '')
  const usedBytes = () =>
    readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .reduce(
        (sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * BLOCK_BYTES,
        0,
      )
  const roomOf = async () => diskBytes - usedBytes()
  const newRoom = (name: string) =>
    createReservedRoom({
      path: join(home, name, 'room'),
      lock: join(home, '.lock'),
      signal: t.signal,
      roomOf,
    })
  return { newRoom, usedBytes }
}

test('pulls together never reserve more than the disk has', async (t) => {
  const { newRoom, usedBytes } = open(t, 100 * MB)
  const rooms = ['a', 'b', 'c', 'd'].map(newRoom)
  const got = await Promise.all(rooms.map((room) => room.reserve(40 * MB)))
  assert.equal(got.filter((isReserved) => isReserved).length, 2)
  assert.ok(usedBytes() >= 80 * MB && usedBytes() < 81 * MB)
  // A failed pull gives its room back to the next pull.
  for (const room of rooms) await room.give()
  assert.equal(usedBytes(), 0)
  assert.equal(await newRoom('e').reserve(90 * MB), true)
})

test('the reserved room shrinks by what was written, and grows again', async (t) => {
  const { newRoom, usedBytes } = open(t, 100 * MB)
  await using room = newRoom('a')
  assert.equal(await room.reserve(60 * MB), true)
  room.wrote(50 * MB)
  assert.ok(usedBytes() < 11 * MB)
  assert.equal(await room.reserve(80 * MB), true)
  assert.equal(await room.reserve(20 * MB), false)
})
