// Which log the sealer writes to. A new shard begins each year, after the ledger was restored to an
// older size than was signed, and with a new key; its first leaf names the last checkpoint before it.
import { fault } from '#contract/errors.ts'
import { timestamp, type Clock } from '#base/clock.ts'
import type { Logger } from '#base/log.ts'
import { SIGNERS, THRESHOLD, type Position } from '#signers/wire.ts'
import {
  checkpointBody,
  compareShards,
  fromBase64,
  isSignedBy,
  originOf,
  parseCheckpoint,
  parseNote,
  shardOf,
} from '#tlog/checkpoint.ts'
import { isHandover } from '#tlog/handover.ts'
import type { ReceiptKey } from '#tlog/keys.ts'
import { leafOf } from '#tlog/leaf.ts'
import { edgeFrontier, extendTiles, readEdge } from '#tlog/tiles.ts'
import { frontierRoot } from '#tlog/tree.ts'
import { leafIndexOf, readLeaves, type ReceiptStore, type Shard } from './store.ts'

const PAGE_LEAVES = 1_024
const RESTORED = 'restored: '

type ShardDeps = { readonly store: ReceiptStore; readonly clock: Clock; readonly log: Logger }
/** The facts at the start of a sealer, or when the year may have changed. */
type KnownLog = {
  readonly epoch: number
  readonly publicKey: Buffer
  /** The signature of the former key over this key, where it was requested. */
  readonly handover: string | undefined
  /** The last head of each answering signer. */
  readonly positions: readonly (Position | null)[]
}
/**
 * A shard to seal to; no fewer than `floor` of its leaves were signed before. `voucher` is a note of it, or of the head
 * that it follows (signers/guard.ts).
 */
export type OpenShard = {
  readonly shard: Shard
  readonly size: number
  readonly floor: number
  readonly voucher: string | undefined
}

/**
 * The shard to go on with: the last shard, or a shard that is opened now for one of the three reasons. Throws ErgonError
 * `signers_unavailable` when too few signers answered to know the last signed head.
 */
export async function currentShard(known: KnownLog, deps: ShardDeps): Promise<OpenShard> {
  // Any three of the five include one of those that signed the last head.
  if (known.positions.length < THRESHOLD)
    throw fault(
      'signers_unavailable',
      `Could not learn what was signed last: ${known.positions.length} signers answer`,
    )
  const shards = await deps.store.shards()
  await keepLost(known, shards, deps)
  const last = shards.at(-1)
  const signed = furthest(known.positions)
  if (last === undefined) return openShard({ ...known, last, signed, size: 0 }, deps)
  const saved = await deps.store.latest(last.origin)
  const size = saved?.size ?? 0
  const floor = signed?.shard === last.shard ? signed.size : 0
  const reason = await whyNewShard({ last, signed, size, shards }, known.publicKey, deps)
  if (reason === undefined) {
    const voucher = saved?.note ?? (await voucherOf(last.link, known, deps.store))
    return { shard: last, size, floor, voucher }
  }
  deps.log.warn('A new shard of the receipt log begins', { after: last.origin, reason })
  // Signers and state know different histories: an old copy of one of them was put back, and clients can tell.
  const alarm = reason.startsWith(RESTORED) ? { after: last.origin, reason } : undefined
  return openShard({ ...known, last, signed, size, alarm }, deps)
}

/**
 * Each shard that has a checkpoint was signed by one of any three signers: what a restored state lacks of them
 * is kept as lost, with its key.
 */
async function keepLost(
  { publicKey, positions }: KnownLog,
  shards: readonly Shard[],
  { store, log }: ShardDeps,
): Promise<void> {
  const names = new Set(shards.map(({ origin }) => origin))
  for (const { origin } of await store.lostShards()) names.add(origin)
  const lost: ReceiptKey[] = []
  for (const { shard, since } of positions.flatMap((position) => position?.shards ?? [])) {
    const origin = originOf(publicKey, shard)
    if (names.has(origin)) continue
    names.add(origin)
    lost.push({ origin, shard, publicKey, validFrom: since })
  }
  if (lost.length === 0) return
  log.warn('The state lacks shards that were signed: it was restored to before them', {
    lost: lost.map(({ origin }) => origin),
  })
  await store.addLostShards(lost)
}

/** True when the year of a shard is over. */
export const isPastYear = (shard: Shard, clock: Clock): boolean =>
  yearOf(clock) > Number(shard.shard.slice(0, 4))

const yearOf = (clock: Clock): number => new Date(clock.wallMs()).getUTCFullYear()

type SignedState = {
  readonly last: Shard
  readonly signed: Position | undefined
  readonly size: number
  readonly shards: readonly Shard[]
}

async function whyNewShard(
  { last, signed, size, shards }: SignedState,
  publicKey: Buffer,
  { store, clock }: ShardDeps,
): Promise<string | undefined> {
  if (!last.publicKey.equals(publicKey)) return 'the signers have another key'
  if (signed === undefined) return isPastYear(last, clock) ? 'a new year' : undefined
  if (compareShards(signed.shard, last.shard) > 0)
    return `${RESTORED}shard ${signed.shard} was signed before`
  const shard = shards.find((each) => each.shard === signed.shard)
  const saved = shard === last ? size : ((shard && (await store.latest(shard.origin)))?.size ?? 0)
  // Signers older than the state go on from it. An ended shard has only its saved part: there each signer compares the
  // link with its own signature.
  if (shard !== undefined && (shard === last || signed.size <= saved))
    if (!(await hasSigned(signed, shard, saved, store)))
      return `${RESTORED}other ${signed.size} leaves of shard ${signed.shard} were signed before`
  return isPastYear(last, clock) ? 'a new year' : undefined
}

/**
 * True when a shard's log begins with the signed head: by its tiles up to `saved`, then by the ledger. A restored
 * ledger can have grown to as many leaves as were signed, with other contents.
 */
async function hasSigned(
  signed: Position,
  shard: Shard,
  saved: number,
  store: ReceiptStore,
): Promise<boolean> {
  let edge = await readEdge(Math.min(signed.size, saved), (ids) => store.tiles(shard.origin, ids))
  while (edge.size < signed.size) {
    const limit = Math.min(PAGE_LEAVES, signed.size - edge.size)
    const page = await readLeaves(store, shard, edge.size, limit)
    if (page.count === 0) return false
    ;({ edge } = extendTiles(edge, page.leaves().map(leafOf)))
  }
  return frontierRoot(edgeFrontier(edge)).equals(fromBase64(signed.root))
}

function furthest(positions: readonly (Position | null)[]): Position | undefined {
  return positions
    .filter((position) => position !== null)
    .toSorted((a, b) => compareShards(a.shard, b.shard) || a.size - b.size)
    .at(-1)
}

type LogOpening = KnownLog & {
  readonly last: Shard | undefined
  readonly signed: Position | undefined
  readonly size: number
  readonly alarm?: object | undefined
}

async function openShard(known: LogOpening, { store, clock }: ShardDeps): Promise<OpenShard> {
  const { epoch, publicKey, handover, last, signed, size, alarm } = known
  const link = await linkTo(known, last, store)
  const name = nextName([last?.shard, signed?.shard], yearOf(clock))
  const shard: Shard = {
    origin: originOf(publicKey, name),
    shard: name,
    publicKey,
    // Leaves up to the last saved checkpoint stay where they are provable.
    firstLeaf:
      last === undefined ? 0 : leafIndexOf(last, Math.max(size, last.link === undefined ? 0 : 1)),
    link,
    handover:
      last !== undefined &&
      handover !== undefined &&
      isHandover(handover, last.publicKey, publicKey)
        ? handover
        : undefined,
    validFrom: timestamp(clock.wallMs()),
  }
  await store.openShard(epoch, shard, alarm)
  return { shard, size: 0, floor: 0, voucher: await voucherOf(link, known, store) }
}

// The year, or the year of the newest shard with the next count, whichever is later.
function nextName(shards: readonly (string | undefined)[], year: number): string {
  const newest = shards
    .filter((shard) => shard !== undefined)
    .toSorted(compareShards)
    .at(-1)
  if (newest === undefined || Number(newest.slice(0, 4)) < year) return String(year)
  const [newestYear, count = '0'] = newest.split('.')
  return `${newestYear}.${Number(count) + 1}`
}

/**
 * The last checkpoint before a new shard: what the signers signed last, else what the store holds. A head that fewer
 * than three signed, because a crash came between, is left out where another was vouched for: the others would refuse
 * it. Throws ErgonError `signers_unavailable` when the silent signers may have signed it too.
 */
async function linkTo(
  known: KnownLog,
  last: Shard | undefined,
  store: ReceiptStore,
): Promise<string | undefined> {
  const { publicKey, positions } = known
  const bodies = positions.map((position) => position && bodyOf(position, publicKey))
  const signed = furthest(positions)
  if (signed === undefined) {
    const saved = last && (await store.latest(last.origin))
    return saved && checkpointBody(saved)
  }
  const body = bodyOf(signed, publicKey)
  const count = bodies.filter((each) => each === body).length
  if (count >= THRESHOLD || (await voucherOf(body, known, store)) !== undefined) return body
  const vouched = newestNote(known)
  if (vouched === undefined) return body
  if (count + SIGNERS - positions.length >= THRESHOLD)
    throw fault(
      'signers_unavailable',
      `Could not learn what was signed last: ${count} signers have ${signed.size} leaves of shard ${signed.shard}, and ${SIGNERS - positions.length} do not answer`,
    )
  return parseNote(vouched).body
}

const bodyOf = ({ shard, size, root }: Position, publicKey: Buffer): string =>
  checkpointBody({ origin: originOf(publicKey, shard), size, root: fromBase64(root) })

/** A note of the checkpoint, from the store or a signer. */
async function voucherOf(
  body: string | undefined,
  { positions, publicKey }: Pick<KnownLog, 'positions' | 'publicKey'>,
  store: ReceiptStore,
): Promise<string | undefined> {
  if (body === undefined) return undefined
  const saved = await store.latest(parseCheckpoint(body).origin)
  if (saved !== undefined && checkpointBody(saved) === body) return saved.note
  return keptNotes(positions, publicKey).find((note) => parseNote(note).body === body)
}

/** The newest note that signers keep. */
function newestNote({
  positions,
  publicKey,
}: Pick<KnownLog, 'positions' | 'publicKey'>): string | undefined {
  const ranked = keptNotes(positions, publicKey).map((note) => {
    const { origin, size } = parseCheckpoint(parseNote(note).body)
    return { note, size, shard: shardOf(origin, publicKey) ?? '' }
  })
  return ranked.toSorted((a, b) => compareShards(a.shard, b.shard) || a.size - b.size).at(-1)?.note
}

/** The notes that signers keep. A signer may lie: only notes by the key count. */
const keptNotes = (positions: readonly (Position | null)[], publicKey: Buffer): string[] =>
  positions
    .flatMap((position) => position?.note ?? [])
    .filter((text) => {
      try {
        const note = parseNote(text)
        return isSignedBy(note, parseCheckpoint(note.body).origin, publicKey)
      } catch {
        return false
      }
    })
