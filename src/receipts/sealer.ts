// The sealer: takes charges that the ledger has posted, in its order, and gets the tree head over them
// signed. First posted, then sealed: nothing is signed that is not a committed row, and a row waits
// for its receipt as long as it must, but never gets lost.
import { sleep, type Clock } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Quorum } from '#signers/client.ts'
import type { Checkpoint } from '#tlog/checkpoint.ts'
import { leafOf, type LeafContent } from '#tlog/leaf.ts'
import { edgeFrontier, extendTiles, readEdge, type Tile, type TileEdge } from '#tlog/tiles.ts'
import { frontierRoot } from '#tlog/tree.ts'
import type { LeafPage } from './leaf-page.ts'
import { currentShard, isPastYear } from './shards.ts'
import { readLeaves, type ReceiptStore, type Shard } from './store.ts'

type SealerDeps = {
  readonly store: ReceiptStore
  readonly signers: Quorum
  readonly clock: Clock
  readonly log: Logger
  /** Waits until this process may seal and gives its epoch (leader.ts). */
  readonly lead: (signal: AbortSignal) => Promise<number>
  /** True when the signers may make a key where none has one (signer-store.ts). */
  readonly mayMakeKey: () => Promise<boolean>
}

/** For the status page, of the shard that was sealed last. `reason` says why nothing is sealed, when nothing is. */
export type SealerState = {
  readonly origin: string | undefined
  readonly size: number
  readonly reason: string | undefined
}

export type Sealer = {
  /** Seals until the signal is aborted; never rejects for anything else. */
  run(signal: AbortSignal): Promise<void>
  state(): SealerState
}

// One checkpoint costs the signers and the sealer 25 ms together, however few leaves it has. So a quiet log
// is sealed once a second and a busy one twice: at 1,300 leaves a second four times cost as much again as
// the leaves themselves. Only where each step takes long, every quarter keeps a receipt within a second.
const BUSY_LEAVES_PER_S = 20
const HURRIED_LEAVES_PER_S = 2_000
const QUIET_INTERVAL_MS = 1_000
const BUSY_INTERVAL_MS = 500
const HURRIED_INTERVAL_MS = 250
/** The interval of checks of a quiet log, so that the begin of a busy time is noticed. */
const LOOK_MS = 250
// At rest the log is checked once a checkpoint only: the checks took 0.2 % of a core, here and in PostgreSQL. After a
// leaf they go on for 5 s.
const RESTING_LEAVES_PER_S = 0.05
const BACKOFF_MAX_MS = 10_000
const NEW_KEY_RETRY_MS = 30_000
/** Leaves in one checkpoint; what exceeds it goes into the next one at once. */
const LEAVES_MAX = 4_096
const PAGE_LEAVES = 1_024
// Three of five signers are asked by turns, so one of them lacks the leaves of the last three checkpoints.
// Kept, each leaf is read once and not four times; 10 MB of them at most, and 1 MB at 1,000 a second.
const KEPT_LEAVES = 8_192

// Leaves of a step. A very busy log reads new leaves and sends them to the signers in steps while it waits for
// its next checkpoint, which then has only the last step and the signing left.
const STEP_LEAVES = 500
const STEP_MIN_MS = 50

/** One shard as this sealer leaves it: all that the next checkpoint needs. */
type ShardState = {
  readonly epoch: number
  readonly shard: Shard
  readonly recent: Recent
  /** When to begin anew, to make the key that was ordered. */
  readonly againMs: number
  /** The number of leaves of the last checkpoint. */
  sealed: number
  /** A signed head is never given up: no signer signs a smaller tree than before. */
  floor: number
  /** For signers that missed heads: the last note of this shard, before that a note of the head that it follows. */
  voucher: string | undefined
  /** All leaves that were read, and the tiles made of them since the last checkpoint. */
  edge: TileEdge
  readonly tiles: Map<string, Tile>
}
/** The last pages that were read; the oldest of them begins at the log's place `from`. */
type Recent = { from: number; readonly pages: LeafPage[] }

export function createSealer(deps: SealerDeps): Sealer {
  let work: ShardState | undefined
  let reason: string | undefined = 'not started'
  let last: Pick<SealerState, 'origin' | 'size'> = { origin: undefined, size: 0 }

  /** Seals what there is and gives the number of leaves. */
  async function sealOnce(signal: AbortSignal): Promise<number> {
    if (work !== undefined && isOver(work, deps.clock)) work = undefined
    work ??= await begin(deps, (why) => (reason = why), signal)
    const count = await seal(work, deps, signal)
    last = { origin: work.shard.origin, size: work.sealed }
    return count
  }

  function failed(error: unknown): void {
    // Whatever it was, the store and the signers are asked anew what holds.
    work = undefined
    if (reason === messageOf(error)) return
    reason = messageOf(error)
    const level = error instanceof ErgonError && error.status === 503 ? 'warn' : 'error'
    deps.log[level]('Receipts wait to be sealed', { reason })
  }

  /** Waits until the next checkpoint, and reads on meanwhile; of a quiet log not longer than it is quiet. */
  async function rest(endMs: number, pace: Pace, signal: AbortSignal): Promise<void> {
    const isQuiet = pace.waitMs > BUSY_INTERVAL_MS
    const stepMs = stepOf(pace)
    const enough = isQuiet ? BUSY_LEAVES_PER_S : LEAVES_MAX
    for (;;) {
      const restMs = endMs - deps.clock.monotonicMs()
      if (restMs > 0) await sleep(Math.min(Math.max(STEP_MIN_MS, stepMs), restMs), signal)
      if (restMs <= stepMs || work === undefined) return
      await prepare(work, deps, signal)
      if (work.edge.size - work.sealed >= enough) return
    }
  }

  return {
    state: () => ({ ...last, reason }),
    async run(signal) {
      let pace = QUIET
      let beforeMs = deps.clock.monotonicMs()
      while (!signal.aborted) {
        const startMs = deps.clock.monotonicMs()
        try {
          const count = await sealOnce(signal)
          if (reason !== undefined) deps.log.info('Receipts are sealed', { after: reason })
          reason = undefined
          pace = paceAfter(count, startMs - beforeMs, pace)
          beforeMs = startMs
          await rest(startMs + pace.waitMs, pace, signal)
        } catch (error) {
          if (signal.aborted) break
          failed(error)
          const waitMs = Math.min(BACKOFF_MAX_MS, Math.max(BUSY_INTERVAL_MS, pace.waitMs) * 2)
          pace = { perSecond: 0, waitMs }
          await sleep(waitMs, signal).catch(() => undefined)
        }
      }
    },
  }
}

/** The rate of leaves, and the wait of the next checkpoint for more of them. */
export type Pace = { readonly perSecond: number; readonly waitMs: number }
export const QUIET: Pace = { perSecond: 0, waitMs: QUIET_INTERVAL_MS }

/** The time between two checks for leaves while the next checkpoint waits. */
export function stepOf({ perSecond, waitMs }: Pace): number {
  if (perSecond > BUSY_LEAVES_PER_S) return (STEP_LEAVES * 1000) / perSecond
  return perSecond > RESTING_LEAVES_PER_S ? LOOK_MS : waitMs
}

/**
 * The pace after a checkpoint, by its number of leaves and the time since the one before. Half of it is the pace
 * before: charges are posted in bursts, and a poll between two of them found nothing and took a log of 5,000 a second
 * for a quiet one.
 */
export function paceAfter(count: number, elapsedMs: number, before: Pace): Pace {
  const came = (count * 1000) / Math.max(elapsedMs, LOOK_MS)
  const perSecond = (before.perSecond + came) / 2
  return { perSecond, waitMs: count >= LEAVES_MAX ? 0 : intervalOf(perSecond) }
}

function intervalOf(perSecond: number): number {
  if (perSecond > HURRIED_LEAVES_PER_S) return HURRIED_INTERVAL_MS
  return perSecond > BUSY_LEAVES_PER_S ? BUSY_INTERVAL_MS : QUIET_INTERVAL_MS
}

const isOver = ({ shard, againMs }: ShardState, clock: Clock): boolean =>
  isPastYear(shard, clock) || clock.monotonicMs() >= againMs

/** Becomes the sealer, and learns from signers and store where to go on. */
async function begin(
  deps: SealerDeps,
  waits: (reason: string) => void,
  signal: AbortSignal,
): Promise<ShardState> {
  const { store, signers, log, clock } = deps
  const epoch = await deps.lead(signal)
  const { publicKey, isNewAwaited } = await openKey(deps, waits, signal)
  const handover = signers.handover()
  const positions = await signers.positions(signal)
  const known = { epoch, publicKey, handover, positions }
  const { shard, size, floor, voucher } = await currentShard(known, deps)
  const edge = await readEdge(size, (wanted) => store.tiles(shard.origin, wanted))
  log.info('Sealing begins', { origin: shard.origin, size, floor, epoch, atMs: clock.wallMs() })
  const recent = { from: size, pages: [] }
  const againMs = isNewAwaited ? clock.monotonicMs() + NEW_KEY_RETRY_MS : Infinity
  return { epoch, shard, recent, againMs, sealed: size, floor, voucher, edge, tiles: new Map() }
}

/**
 * The signers' key. Where the operator ordered a new key and all five signers take part: the new key, which the present key
 * names as its successor. Until then the log goes on under the present key.
 */
async function openKey(
  { store, signers, mayMakeKey, log }: SealerDeps,
  waits: (reason: string) => void,
  signal: AbortSignal,
): Promise<{ publicKey: Buffer; isNewAwaited: boolean }> {
  const publicKey = await signers.open(signal, { mayMakeKey, waits })
  const last = (await store.shards()).at(-1)
  const isOrdered = last?.publicKey.equals(publicKey) === true && (await mayMakeKey())
  if (!isOrdered) return { publicKey, isNewAwaited: false }
  try {
    return { publicKey: await signers.succeed(signal), isNewAwaited: false }
  } catch (error) {
    signal.throwIfAborted()
    log.warn('The new key waits for all five signers', { reason: messageOf(error) })
    return { publicKey, isNewAwaited: true }
  }
}

async function seal(work: ShardState, deps: SealerDeps, signal: AbortSignal): Promise<number> {
  const { store, signers } = deps
  const { shard, epoch, tiles } = work
  await prepare(work, deps, signal)
  const { edge } = work
  const count = edge.size - work.sealed
  if (count === 0) return 0
  const root = frontierRoot(edgeFrontier(edge))
  const checkpoint: Checkpoint = { origin: shard.origin, size: edge.size, root }
  const note = await signers.sign(checkpoint, leafSource(work, store), signal, work.voucher)
  work.floor = edge.size
  work.voucher = note
  await store.saveCheckpoint(epoch, { ...checkpoint, note }, [...tiles.values()])
  work.sealed = edge.size
  tiles.clear()
  return count
}

/**
 * Reads the rows that follow, until a checkpoint has LEAVES_MAX of them, and begins to send them to the signers; but
 * never stops before the last signed leaf.
 */
async function prepare(
  work: ShardState,
  { store, signers }: SealerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { shard, recent, sealed, floor, tiles } = work
  const before = work.edge.size
  while (work.edge.size < floor || work.edge.size - sealed < LEAVES_MAX) {
    signal.throwIfAborted()
    const { edge } = work
    const page = await readLeaves(store, shard, edge.size, PAGE_LEAVES)
    // The link alone is nothing to seal; it goes with the first charge.
    if (page.count === 0 || (edge.size === 0 && page.count === 1 && shard.link !== undefined)) break
    const hashes = Array.from({ length: page.count }, (_, nth) => leafOf(page.leaf(nth)))
    const grown = extendTiles(edge, hashes)
    for (const tile of grown.written) tiles.set(`${tile.level}/${tile.index}`, tile)
    keep(recent, page)
    work.edge = grown.edge
    if (page.count < PAGE_LEAVES) break
  }
  const { size } = work.edge
  if (size > before) signers.prepare(shard.origin, size, leafSource(work, store), work.voucher)
}

function keep(recent: Recent, page: LeafPage): void {
  recent.pages.push(page)
  let kept = recent.pages.reduce((sum, { count }) => sum + count, 0)
  while (kept > KEPT_LEAVES) {
    const oldest = recent.pages.shift()?.count ?? kept
    recent.from += oldest
    kept -= oldest
  }
}

/** Leaves for the signers: those just read from memory, older ones for a signer that was away. */
function leafSource({ shard, recent }: ShardState, store: ReceiptStore) {
  return async (from: number, limit: number): Promise<readonly LeafContent[]> => {
    const found: LeafContent[] = []
    let at = from - recent.from
    for (const page of at < 0 ? [] : recent.pages) {
      if (at < page.count) found.push(...page.leaves(at, at + limit - found.length))
      at = Math.max(0, at - page.count)
      if (found.length === limit) break
    }
    return found.length > 0 ? found : (await readLeaves(store, shard, from, limit)).leaves()
  }
}
