// Five honest signers and a false coordinator, which sends any three of them any head with any link and any voucher: the
// heads that three signed are always of one history.
import assert from 'node:assert/strict'
import { sign } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { leavesOf } from '#tlog/charge.fixture.ts'
import { checkpointBody, formatNote, originOf } from '#tlog/checkpoint.ts'
import { leafOf, type LeafContent } from '#tlog/leaf.ts'
import { keyPair } from '#tlog/shard.fixture.ts'
import { EMPTY_FRONTIER, extend, frontierRoot } from '#tlog/tree.ts'
import { createGuard, type Guard } from './guard.ts'
import { SIGNERS, THRESHOLD } from './wire.ts'

const { publicKey, privateKey } = keyPair()
const YEARS = 5
const RUNS = Number(process.env['ERGON_RUNS'] ?? 150)

/** A head that somebody asked for: the leaves of its shard, after the head that its link names. */
type Head = {
  readonly shard: number
  readonly leaves: readonly LeafContent[]
  readonly before: Head | undefined
}

const step = fc.record({
  signers: fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: THRESHOLD, maxLength: THRESHOLD }),
  /** The shard, counted from the newest one that was asked for. */
  ahead: fc.integer({ min: -1, max: 2 }),
  /** The named head and the voucher, counted from the newest. */
  link: fc.nat(6),
  voucher: fc.nat(3),
  size: fc.integer({ min: 2, max: 6 }),
  fork: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const bodyOf = ({ shard, leaves }: Head): string =>
  checkpointBody({
    origin: originOf(publicKey, String(2020 + shard)),
    size: leaves.length,
    root: frontierRoot(extend(EMPTY_FRONTIER, leaves.map(leafOf))),
  })
const noteOf = (head: Head): string => {
  const body = bodyOf(head)
  return formatNote(body, sign(null, Buffer.from(body), privateKey), publicKey)
}

function headOf({ ahead, link, size, fork }: Step, asked: readonly Head[]): Head {
  const newest = Math.max(0, ...asked.map(({ shard }) => shard))
  const shard = Math.min(YEARS, Math.max(0, newest + ahead))
  const before = shard === 0 ? undefined : asked.at(-1 - link)
  const first: LeafContent[] =
    before === undefined ? [] : [{ accountSeq: 0n, bytes: Buffer.from(bodyOf(before)) }]
  const start = fork ? 1000 : 0
  return { shard, before, leaves: [...first, ...leavesOf(start, start + size)].slice(0, size) }
}

function signs(guard: Guard, head: Head, voucher: string | undefined): boolean {
  const origin = originOf(publicKey, String(2020 + head.shard))
  const { signed } = guard
  const from = signed?.shard === String(2020 + head.shard) ? signed.frontier.size : 0
  try {
    guard.offer(origin, from, head.leaves.slice(from), voucher)
    guard.approve(bodyOf(head))
    return true
  } catch {
    return false
  }
}

const isBegin = (begin: Head, whole: Head): boolean =>
  begin.leaves.length <= whole.leaves.length &&
  bodyOf(begin) === bodyOf({ ...whole, leaves: whole.leaves.slice(0, begin.leaves.length) })

/** True when the history that ends in `last` has the earlier head. */
function has(last: Head | undefined, earlier: Head): boolean {
  if (last === undefined || last.shard < earlier.shard) return false
  return last.shard === earlier.shard ? isBegin(earlier, last) : has(last.before, earlier)
}

/** Runs a history; `vouches` says which heads the coordinator has notes of. */
function play(steps: readonly Step[], vouches: 'signed' | 'asked'): void {
  const guards = Array.from({ length: SIGNERS }, () =>
    createGuard({
      publicKey,
      signed: undefined,
      note: undefined,
      save: () => undefined,
      saveNote: () => undefined,
    }),
  )
  const asked: Head[] = []
  const signed: Head[] = []
  for (const each of steps) {
    const head = headOf(each, asked)
    asked.push(head)
    const vouched = (vouches === 'signed' ? signed : asked).at(-1 - each.voucher)
    const note = vouched && noteOf(vouched)
    const agreed = each.signers.filter((nth) => {
      const guard = guards[nth]
      return guard !== undefined && signs(guard, head, note)
    })
    if (agreed.length < THRESHOLD) continue
    for (const earlier of signed)
      assert.ok(
        has(head, earlier) || has(earlier, head),
        `${bodyOf(head)} denies ${bodyOf(earlier)}`,
      )
    signed.push(head)
  }
  reached = Math.max(reached, new Set(signed.map(({ shard }) => shard)).size)
}
let reached = 0

const histories = fc.array(step, { minLength: 10, maxLength: 40, size: 'max' })

test('three of five signers sign one history, whatever the coordinator asks', () => {
  fc.assert(
    fc.property(histories, (steps) => play(steps, 'signed')),
    { numRuns: RUNS },
  )
  assert.ok(reached >= 3, `${reached} shards were signed in one history`)
})

test('a coordinator that could vouch for heads that nobody signed would fork the log', () => {
  assert.throws(() =>
    fc.assert(
      fc.property(histories, (steps) => play(steps, 'asked')),
      { numRuns: 5000, endOnFailure: true },
    ),
  )
})
