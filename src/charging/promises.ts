// What a stream tells its client before its end: a receipt id, and so that there will be a charge. The
// charge as it then stands is kept in a slot of a file until the final one is journaled; of a process
// that was killed in between the next life posts what the slot holds. So an id in a head is never lost.
import type { TimerClock } from '#base/clock.ts'
import { parseCharge, type Charge } from '#contract/charge.ts'
import { chargeText } from './charge-text.ts'
import type { Disk, DiskFile } from './disk.ts'
import {
  encodeHeader,
  encodeRecord,
  isErased,
  readHeader,
  readRecord,
  SEGMENT_HEADER_BYTES,
  wasRecord,
  type Debit,
  type JournalRecord,
} from './journal-record.ts'
import { contentEnd, isTorn, lastOf } from './journal-segment.ts'

const FILE = 'promises'
// A charge has about 1.1 kB. Each slot has a segment's header of its own, and one record.
const SLOT_BYTES = 4096
// The file grows beyond these, at the cost of blocks that must be found while a client waits.
const FIRST_SLOTS = 64
const SYNC_GROUP_MS = 20

type PromisesOptions = {
  readonly disk: Disk
  readonly session: string
  readonly clock: TimerClock
  /** Called with an error of the disk; the process must then end. */
  readonly failed: (error: unknown) => void
  /** Resolves when what was journaled so far survives a power cut. */
  readonly journaled: () => Promise<void>
}

export class Promises {
  readonly #options: PromisesOptions
  readonly #slots = new Map<string, number>()
  readonly #free: number[] = []
  /** How many slots there are. */
  #made = 0
  #file: DiskFile | undefined
  /** Whether writes are being collected for a sync. */
  #collecting = false
  #synced: Promise<void> = Promise.resolve()

  constructor(options: PromisesOptions) {
    this.#options = options
  }

  /** Promises that are not kept yet. */
  get size(): number {
    return this.#slots.size
  }

  /** When it returns, kill -9 loses neither the id nor what was used so far. */
  make(id: string, bytes: Uint8Array, debits: readonly Debit[]): void {
    const slot = this.#slots.get(id) ?? this.#free.pop() ?? this.#made++
    // Its number in the session is not known yet; the next life gives it one.
    const record = encodeRecord({ seq: 0n, kind: 'charge', bytes, debits })
    const text = Buffer.concat([encodeHeader(this.#options.session), record])
    if (text.length > SLOT_BYTES) throw new RangeError(`Too long to be promised: ${id}`)
    this.#write(text, slot)
    this.#slots.set(id, slot)
  }

  /**
   * The final charge is journaled. Nothing happens when nothing was promised. The slot is erased once that
   * survives a power cut, which could else take both; till then the replay knows the charge by its id.
   */
  keep(id: string): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    this.#slots.delete(id)
    const erase = () => {
      this.#write(Buffer.alloc(SEGMENT_HEADER_BYTES), slot)
      this.#free.push(slot)
    }
    // An error of the disk was told to `failed` when it came.
    this.#options
      .journaled()
      .then(erase)
      .catch(() => undefined)
  }

  /** Resolves when everything that was written survives a power cut; rejects when the disk failed. */
  synced(): Promise<void> {
    return this.#synced
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Never under a sync: that would be an error of the disk.
    await this.#synced.catch(() => undefined)
    this.#file?.close()
  }

  #write(bytes: Uint8Array, slot: number): void {
    const { disk, failed } = this.#options
    try {
      // Made at the first stream: most processes have none.
      this.#file ??= disk.create(FILE, Buffer.alloc(0), FIRST_SLOTS * SLOT_BYTES)
      this.#file.write(bytes, slot * SLOT_BYTES)
    } catch (error) {
      failed(error)
      throw error
    }
    this.#syncSoon(this.#file)
  }

  #syncSoon(file: DiskFile): void {
    if (this.#collecting) return
    this.#collecting = true
    const { clock, failed } = this.#options
    const waited = new Promise<void>((resolve) => clock.setTimer(SYNC_GROUP_MS, resolve))
    this.#synced = Promise.all([this.#synced, waited]).then(() => {
      this.#collecting = false
      return file.sync()
    })
    this.#synced.catch(failed)
  }
}

/**
 * What an earlier life left, with the promises it did not keep as its last records. `lastSeq` is what
 * the ledger has of the session that is still open; `posted` says which ids the ledger has already.
 */
export async function withPromises<L extends Life>(
  left: readonly L[],
  disk: Disk,
  ledger: {
    open: { session: string; lastSeq: bigint } | undefined
    posted: (ids: readonly string[]) => Promise<ReadonlySet<string>>
  },
): Promise<L[]> {
  if (!disk.list().includes(FILE)) return [...left]
  const { open, posted } = ledger
  const found = readSlots(disk.read(FILE)).promised.filter(
    ({ session }) => session === open?.session,
  )
  const known = await posted(found.map(({ charge }) => charge.id))
  return left.map((life) => {
    if (life.session !== open?.session || found.length === 0) return life
    const journaled = new Set(
      life.records.filter(isCharge).map((each) => parseCharge(each.bytes).id),
    )
    const unkept = found.filter(({ charge }) => !known.has(charge.id) && !journaled.has(charge.id))
    const last = lastOf(life, open.lastSeq)
    const records = unkept.map(({ charge, debits }, index): JournalRecord => {
      const seq = last + BigInt(index) + 1n
      return { seq, kind: 'charge', bytes: chargeText({ ...charge, seq: seq.toString() }), debits }
    })
    // The promises get numbers after those of the damaged tail, so the replay finds the tail as a gap.
    const damagedTail = records.length > 0 ? [] : life.damagedTail
    return { ...life, records: [...life.records, ...records], damagedTail }
  })
}

type Life = {
  readonly session: string
  readonly records: readonly JournalRecord[]
  readonly damagedTail: readonly bigint[]
}

/**
 * Forgets the promises of earlier lives, when they are posted. Those of sessions that the ledger does
 * not know are kept in files of their own, for the ledger they belong to; resolves with these sessions.
 * A file with damaged promises is not removed: `keepAside` gets its name and their number.
 */
export async function dropPromises(
  disk: Disk,
  isKnown: (session: string) => Promise<boolean>,
  keepAside: (file: string, damaged: number) => Promise<void>,
): Promise<string[]> {
  if (!disk.list().includes(FILE)) return []
  const file = disk.read(FILE)
  const unknown: string[] = []
  const { promised, damaged } = readSlots(file)
  for (const session of new Set(promised.map((slot) => slot.session))) {
    if (await isKnown(session)) continue
    unknown.push(session)
    const kept = `${FILE}-${session}`
    if (!disk.list().includes(kept)) disk.create(kept, file, file.length).close()
  }
  if (damaged > 0) await keepAside(FILE, damaged)
  else disk.remove(FILE)
  return unknown
}

/** The sessions whose promises are kept for another ledger. */
export const keptPromises = (disk: Disk): string[] =>
  disk
    .list()
    .filter((name) => name.startsWith(`${FILE}-`))
    .map((name) => name.slice(FILE.length + 1))

const isCharge = (record: JournalRecord) => record.kind === 'charge'

type Promised = {
  readonly session: string
  readonly debits: readonly Debit[]
  readonly charge: Charge
}

function readSlots(file: Buffer): { promised: Promised[]; damaged: number } {
  const promised: Promised[] = []
  let damaged = 0
  for (let from = 0; from < file.length; from += SLOT_BYTES) {
    const slot = file.subarray(from, from + SLOT_BYTES)
    // Kept, or never made. What it held before is still behind its header.
    if (isErased(slot)) continue
    const header = readHeader(slot)
    const at = header?.end ?? SEGMENT_HEADER_BYTES
    const found = readRecord(slot, at)
    if (header !== undefined && found !== undefined) {
      const { bytes, debits } = found.record
      promised.push({ session: header.session, debits, charge: parseCharge(bytes) })
    } else if (wasRecord(slot, at) && !isTorn(slot, at, contentEnd(slot))) damaged++
  }
  return { promised, damaged }
}
