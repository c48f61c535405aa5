import { deepEqual, equal, throws } from 'node:assert/strict'
import { sign } from 'node:crypto'
import { test } from 'node:test'
import { leavesOf, overcharged } from '#tlog/charge.fixture.ts'
import { checkpointBody, formatNote, originOf } from '#tlog/checkpoint.ts'
import { leafOf, type LeafContent } from '#tlog/leaf.ts'
import { keyPair } from '#tlog/shard.fixture.ts'
import { EMPTY_FRONTIER, extend, frontierRoot } from '#tlog/tree.ts'
import { createGuard, type SignedHead } from './guard.ts'

const { publicKey, privateKey } = keyPair()
const origin = originOf(publicKey, '2026')

function guardOf(signed?: SignedHead) {
  const saved: SignedHead[] = []
  const notes: string[] = []
  const guard = createGuard({
    publicKey,
    signed,
    note: undefined,
    save: (head) => void saved.push(head),
    saveNote: (note) => void notes.push(note),
  })
  return { guard, saved, notes }
}

const bodyOf = (leaves: readonly LeafContent[], shard = '2026'): string =>
  checkpointBody({
    origin: originOf(publicKey, shard),
    size: leaves.length,
    root: frontierRoot(extend(EMPTY_FRONTIER, leaves.map(leafOf))),
  })

const link = (text: string): LeafContent => ({ accountSeq: 0n, bytes: Buffer.from(text) })
const noteOf = (body: string, pair = { publicKey, privateKey }): string =>
  formatNote(body, sign(null, Buffer.from(body), pair.privateKey), pair.publicKey)

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
    note: undefined,
    saveNote: () => undefined,
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

/** A guard that signed five leaves of 2026, and a log whose shards 2027 and 2028 it has not seen. */
function afterAbsence() {
  const { guard, saved } = guardOf()
  guard.offer(origin, 0, leavesOf(0, 5))
  guard.approve(bodyOf(leavesOf(0, 5)))
  const second = [link(bodyOf(leavesOf(0, 5))), ...leavesOf(5, 8)]
  const third = [link(bodyOf(second, '2027')), ...leavesOf(8, 12)]
  return { guard, saved, second, third, third0: originOf(publicKey, '2028') }
}

test('a signer that missed a whole shard follows by a note of that shard', () => {
  const { guard, second, third, third0 } = afterAbsence()
  throws(() => guard.offer(third0, 0, third), { code: 'link_refused' })
  guard.offer(third0, 0, third, noteOf(bodyOf(second, '2027')))
  guard.approve(bodyOf(third, '2028'))
  throws(() => guard.offer(originOf(publicKey, '2027'), 0, second), { code: 'shard_closed' })
})

test('a signer that missed a whole shard follows by a note of the new shard, once it has led there', () => {
  const { guard, third, third0, saved } = afterAbsence()
  const note = noteOf(bodyOf(third.slice(0, 4), '2028'))
  guard.offer(third0, 0, third.slice(0, 2), note)
  throws(() => guard.approve(bodyOf(third.slice(0, 2), '2028')), { code: 'link_refused' })
  guard.offer(third0, 2, third.slice(2))
  guard.approve(bodyOf(third, '2028'))
  equal(saved.length, 2)
  const fork = afterAbsence()
  const other = [...third.slice(0, 3), ...leavesOf(90, 92)]
  fork.guard.offer(third0, 0, other.slice(0, 3), note)
  throws(() => fork.guard.offer(third0, 3, other.slice(3)), { code: 'link_refused' })
  throws(() => fork.guard.offer(third0, 0, other, note), { code: 'link_refused' })
  equal(fork.saved.length, 1)
})

test('no voucher leads past what a signer signed', () => {
  const { guard, saved, second, third, third0 } = afterAbsence()
  const real = bodyOf(second, '2027')
  const denied = [link(bodyOf(leavesOf(0, 4))), ...leavesOf(5, 8)]
  const linked = (shard: string) => [link(bodyOf(second, shard)), ...leavesOf(8, 12)]
  const vouchers: [leaves: LeafContent[], voucher: string][] = [
    // A shard that the group never signed.
    [third, noteOf(real, keyPair())],
    [third, real],
    [third, noteOf(real).replace('2027', '2027.1')],
    // The log that the signer signed says nothing of the next one.
    [third, noteOf(bodyOf(leavesOf(0, 5)))],
    [third, noteOf(bodyOf(second, '2029'))],
    // An older head of the shard than the one that is named.
    [third, noteOf(bodyOf(second.slice(0, 2), '2027'))],
    // Fewer leaves than were signed, though three signed them once.
    [denied, noteOf(bodyOf(leavesOf(0, 4)))],
    [denied, noteOf(real)],
    // Shards before the signed one, the new one itself, and later ones.
    [linked('2025'), noteOf(bodyOf(second, '2025'))],
    [linked('2029'), noteOf(bodyOf(second, '2029'))],
    [
      [link(real.replace('ergon-', 'ergon-f')), ...leavesOf(8, 12)],
      noteOf(real.replace('ergon-', 'ergon-f')),
    ],
  ]
  for (const [leaves, voucher] of vouchers)
    throws(() => guard.offer(third0, 0, leaves, voucher), {
      code: /^(link_refused|malformed)$/,
    })
  equal(saved.length, 1)
  equal(guard.held, guard.signed)
})

test('a longer log than was signed is a link only with a note of it', () => {
  const { guard } = afterAbsence()
  const longer = [link(bodyOf(leavesOf(0, 9))), ...leavesOf(9, 12)]
  const next = originOf(publicKey, '2027')
  throws(() => guard.offer(next, 0, longer), { code: 'link_refused' })
  throws(() => guard.offer(next, 0, longer, noteOf(bodyOf(leavesOf(0, 8)))), {
    code: 'link_refused',
  })
  guard.offer(next, 0, longer, noteOf(bodyOf(leavesOf(0, 9))))
  guard.approve(bodyOf(longer, '2027'))
})

test('keep() keeps the newest note that the key signed', () => {
  const { guard, notes } = guardOf()
  const [five, six, later] = [
    noteOf(bodyOf(leavesOf(0, 5))),
    noteOf(bodyOf(leavesOf(0, 6))),
    noteOf(bodyOf(leavesOf(0, 2), '2027')),
  ]
  for (const note of [six, five, later]) guard.keep(note)
  deepEqual(notes, [six, later])
  equal(guard.note, later)
  for (const wrong of ['', five.replace('5', '7'), noteOf(bodyOf(leavesOf(0, 9)), keyPair())])
    throws(() => guard.keep(wrong), { code: /^(link_refused|malformed)$/ })
  equal(guard.note, later)
})
