import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { leavesOf, overcharged } from '#tlog/charge.fixture.ts'
import { checkpointBody, originOf } from '#tlog/checkpoint.ts'
import { leafOf, type LeafContent } from '#tlog/leaf.ts'
import { EMPTY_FRONTIER, extend, frontierRoot } from '#tlog/tree.ts'
import { createGuard, type SignedHead } from './guard.ts'

const publicKey = Buffer.alloc(32, 5)
const origin = originOf(publicKey, '2026')

function guardOf(signed?: SignedHead) {
  const saved: SignedHead[] = []
  const guard = createGuard({ publicKey, signed, save: (head) => void saved.push(head) })
  return { guard, saved }
}

const bodyOf = (leaves: readonly LeafContent[], shard = '2026'): string =>
  checkpointBody({
    origin: originOf(publicKey, shard),
    size: leaves.length,
    root: frontierRoot(extend(EMPTY_FRONTIER, leaves.map(leafOf))),
  })

test('approve() saves a head before it returns, and does not save the same one twice', () => {
  const { guard, saved } = guardOf()
  guard.offer(origin, 0, leavesOf(0, 5))
  guard.approve(bodyOf(leavesOf(0, 5)))
  guard.approve(bodyOf(leavesOf(0, 5)))
  equal(saved.length, 1)
  equal(saved[0]?.frontier.size, 5)
  deepEqual(guard.signed, saved[0])
})

test('approve() signs nothing when the head cannot be saved', () => {
  const guard = createGuard({
    publicKey,
    signed: undefined,
    save: () => {
      throw new RangeError('planted: the disk is full')
    },
  })
  guard.offer(origin, 0, leavesOf(0, 2))
  throws(() => guard.approve(bodyOf(leavesOf(0, 2))), /disk is full/)
  equal(guard.signed, undefined)
})

test('a guard that starts from its saved head refuses a fork of what it signed before', () => {
  const first = guardOf()
  first.guard.offer(origin, 0, leavesOf(0, 5))
  first.guard.approve(bodyOf(leavesOf(0, 5)))
  const { guard } = guardOf(first.saved[0])
  throws(() => guard.approve(bodyOf(leavesOf(100, 105))), { code: 'root_mismatch' })
  throws(() => guard.approve(bodyOf(leavesOf(0, 4))), { code: 'size_regression' })
  throws(() => guard.offer(origin, 0, leavesOf(100, 106)), { code: 'gap' })
  throws(() => guard.offer(origin, 6, leavesOf(6, 7)), { code: 'gap' })
  guard.offer(origin, 5, leavesOf(5, 7))
  throws(() => guard.approve(bodyOf([...leavesOf(100, 105), ...leavesOf(5, 7)])), {
    code: 'root_mismatch',
  })
  guard.offer(origin, 5, leavesOf(5, 7))
  guard.approve(bodyOf(leavesOf(0, 7)))
})

test('offer() refuses other origins and leaves whose figures do not follow, and keeps what it held', () => {
  const { guard } = guardOf()
  guard.offer(origin, 0, leavesOf(0, 3))
  throws(() => guard.offer('example.com/log', 3, []), { code: 'foreign_origin' })
  throws(() => guard.offer(origin, 3, [overcharged(3)]), { code: 'leaf_refused' })
  throws(() => guard.offer(origin, 3, [{ ...leavesOf(3, 4)[0]!, accountSeq: 0n }]), {
    code: 'leaf_refused',
  })
  equal(guard.offer(origin, 3, leavesOf(3, 4)), 4)
  throws(() => guard.approve('not a checkpoint'), { code: 'malformed' })
  throws(() => guard.approve(`${bodyOf(leavesOf(0, 4))}extension\n`), { code: 'malformed' })
})

test('a new shard must begin with the last checkpoint, and closes the old one', () => {
  const old = guardOf()
  old.guard.offer(origin, 0, leavesOf(0, 5))
  old.guard.approve(bodyOf(leavesOf(0, 5)))
  const link = (text: string): LeafContent => ({ accountSeq: 0n, bytes: Buffer.from(text) })
  const next = originOf(publicKey, '2027')
  const { guard } = old
  throws(() => guard.offer(next, 0, leavesOf(5, 6)), { code: 'link_refused' })
  throws(() => guard.offer(next, 0, [link(bodyOf(leavesOf(0, 4)))]), { code: 'link_refused' })
  throws(() => guard.offer(next, 0, [link(bodyOf(leavesOf(10, 15)))]), { code: 'link_refused' })
  throws(() => guard.offer(next, 0, [link(bodyOf(leavesOf(0, 9), '2025'))]), {
    code: 'link_refused',
  })
  const leaves = [link(bodyOf(leavesOf(0, 5))), ...leavesOf(5, 7)]
  guard.offer(next, 0, leaves)
  guard.approve(bodyOf(leaves, '2027'))
  throws(() => guard.offer(origin, 5, leavesOf(5, 6)), { code: 'shard_closed' })
  throws(() => guard.approve(bodyOf(leavesOf(0, 5))), { code: 'shard_closed' })
})
