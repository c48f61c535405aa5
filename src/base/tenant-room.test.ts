// The room of disks for tenants, by their blocks and inodes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freeBytesOf, inodeBytesOf, promiseRoomOf, tenantRoomOf } from './tenant-room.ts'

const DISK = { bsize: 4096, blocks: 1_000_000, bavail: 900_000, files: 250_000, ffree: 250_000 }

test('an inode is its part of the disk, and 512 bytes where a file system has no number of them', () => {
  assert.equal(inodeBytesOf(DISK), 16_384)
  assert.equal(inodeBytesOf({ ...DISK, files: 0, ffree: 0 }), 512)
  // fallocate(1) takes whole bytes.
  assert.equal(inodeBytesOf({ ...DISK, files: 249_000 }), 16_450)
})

test('tenants have the room of the blocks, or that of the inodes where this is less', () => {
  assert.equal(tenantRoomOf(DISK), 800_000 * 4096)
  assert.equal(tenantRoomOf({ ...DISK, ffree: 26_000 }), 1000 * 16_384)
  assert.ok(tenantRoomOf({ ...DISK, ffree: 24_999 }) < 0)
  assert.equal(tenantRoomOf({ ...DISK, files: 0, ffree: 0 }), 800_000 * 4096)
  assert.equal(freeBytesOf({ ...DISK, ffree: 1 }), 16_384)
})

test('promises to volumes need blocks alone', () => {
  const full = { ...DISK, ffree: 0 }
  assert.equal(promiseRoomOf(full), promiseRoomOf(DISK))
})
