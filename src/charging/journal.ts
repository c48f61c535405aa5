// The journal of one session: every record is written before its figures leave, synced in groups, and
// removed when the ledger has it. An error of the disk ends the process: nothing it says later could
// be trusted (fsyncgate: a second fsync of the same file answers OK).
import type { TimerClock } from '#base/clock.ts'
import { invariant } from '#base/errors.ts'
import type { Disk, DiskFile } from './disk.ts'
import {
  encodeHeader,
  encodeRecord,
  SEGMENT_HEADER_BYTES,
  type JournalRecord,
} from './journal-record.ts'
import { decodeSegment } from './journal-segment.ts'
import { Promises } from './promises.ts'

const SEGMENT_BYTES = 16 * 1024 * 1024
// A power cut loses at most what was written within one group: 20 ms of charges, in the customer's favour.
const SYNC_GROUP_MS = 20
const NAME = /^(\d{8})\.journal$/

type Open = { file: DiskFile; position: number; last: bigint; dirty: boolean }

export type JournalOptions = {
  readonly disk: Disk
  readonly session: string
  readonly clock: TimerClock
  /** Called once with the first error of a write or a sync; the process must then end. */
  readonly failed: (error: unknown) => void
  readonly segmentBytes?: number
}

/** A new journal of a session, made after what was in the folder is replayed and dropped. */
export class Journal implements AsyncDisposable {
  /** What was told before its charge is journaled. */
  readonly promises: Promises
  readonly #options: Required<JournalOptions>
  readonly #full: Open[] = []
  #number: number
  #current: Open
  #broken = false
  /** What is being collected for one sync. */
  #group: Promise<void> | undefined
  /** Syncs and removals, one after the other: a file is never closed under a sync. */
  #work: Promise<void> = Promise.resolve()

  constructor(options: JournalOptions) {
    this.#options = { segmentBytes: SEGMENT_BYTES, ...options }
    this.promises = new Promises({ ...options, journaled: () => this.synced() })
    this.#number = nextNumber(options.disk)
    this.#current = this.#open()
  }

  /** Writes a record; throws when the disk does. When it returns, kill -9 loses nothing. */
  append(record: JournalRecord): void {
    invariant(!this.#broken, 'the journal failed before')
    const { segmentBytes } = this.#options
    const bytes = encodeRecord(record)
    invariant(bytes.length < segmentBytes / 4, `a record of ${bytes.length} bytes is too large`)
    try {
      if (this.#current.position + bytes.length > segmentBytes) this.#turn()
      this.#current.file.write(bytes, this.#current.position)
    } catch (error) {
      this.#fail(error)
      throw error
    }
    this.#current.position += bytes.length
    this.#current.last = record.seq
    this.#current.dirty = true
    this.#group ??= this.#openGroup()
  }

  /** Resolves when everything appended so far survives a power cut; rejects when the disk failed. */
  synced(): Promise<void> {
    return this.#group ?? this.#work
  }

  /** Forgets the segments whose records are all posted. */
  posted(seq: bigint): void {
    const first = this.#full.findIndex((segment) => segment.last > seq)
    const done = this.#full.splice(0, first === -1 ? this.#full.length : first)
    if (done.length === 0) return
    this.#then(async () => {
      for (const { file } of done) {
        file.close()
        this.#options.disk.remove(file.name)
      }
    })
  }

  /** What the files still have of the records with these numbers, the last one included. */
  between(first: bigint, last: bigint): JournalRecord[] {
    const { disk, session } = this.#options
    return readJournals(disk)
      .filter((life) => life.session === session)
      .flatMap(({ records }) => records.filter(({ seq }) => seq >= first && seq <= last))
  }

  /** Bytes on disk that are not posted yet, rounded up to segments. */
  get bytes(): number {
    return this.#full.length * this.#options.segmentBytes + this.#current.position
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // What the disk said was told to `failed` when it said it.
    await this.synced().catch(() => undefined)
    for (const segment of [...this.#full, this.#current]) segment.file.close()
    await this.promises[Symbol.asyncDispose]()
  }

  #open(): Open {
    const { disk, session, segmentBytes } = this.#options
    const name = `${String(this.#number++).padStart(8, '0')}.journal`
    const file = disk.create(name, encodeHeader(session), segmentBytes)
    return { file, position: SEGMENT_HEADER_BYTES, last: 0n, dirty: false }
  }

  #turn(): void {
    const next = this.#open()
    this.#full.push(this.#current)
    this.#current = next
  }

  #openGroup(): Promise<void> {
    const { clock } = this.#options
    const group = new Promise<void>((resolve, reject) => {
      clock.setTimer(SYNC_GROUP_MS, () => {
        this.#group = undefined
        this.#then(() => this.#sync()).then(resolve, reject)
      })
    })
    group.catch(() => undefined)
    return group
  }

  async #sync(): Promise<void> {
    for (const segment of [...this.#full, this.#current]) {
      if (!segment.dirty) continue
      segment.dirty = false
      await segment.file.sync()
    }
  }

  /** Does work of the disk after what is under way; after a failure nothing more is done. */
  #then(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work)
    this.#work = done
    done.catch((error: unknown) => this.#fail(error))
    return done
  }

  #fail(error: unknown): void {
    if (this.#broken) return
    this.#broken = true
    this.#options.failed(error)
  }
}

export type LeftBehind = {
  /** '' of files whose header cannot be read. */
  readonly session: string
  /** In the order of their numbers; what is missing between them is lost. */
  readonly records: readonly JournalRecord[]
  /** The numbers in the heads of the damaged records after the last of these; a number may be damaged too. */
  readonly damagedTail: readonly bigint[]
  readonly files: readonly string[]
  /** Of the files, those with damaged records. */
  readonly damaged: readonly string[]
}

/**
 * What earlier lives left in the folder, oldest first: to be posted, then dropped. Numbers may be missing:
 * a record was damaged, or a power cut took the end of one segment and left the beginning of the next.
 */
export function readJournals(disk: Disk): LeftBehind[] {
  const found = new Map<string, Left>()
  for (const name of journalNames(disk)) {
    const segment = decodeSegment(disk.read(name))
    const session = segment?.session ?? ''
    const left = found.get(session) ?? newLeft()
    left.files.push(name)
    if (segment !== undefined) {
      const { records, damagedTail } = segment
      left.records.push(...records)
      left.damagedTail = records.length > 0 ? damagedTail : [...left.damagedTail, ...damagedTail]
      if (segment.isDamaged) left.damaged.push(name)
    }
    found.set(session, left)
  }
  return [...found].map(([session, left]) => ({ session, ...left }))
}

type Left = {
  records: JournalRecord[]
  damagedTail: readonly bigint[]
  readonly files: string[]
  readonly damaged: string[]
}
const newLeft = (): Left => ({ records: [], damagedTail: [], files: [], damaged: [] })

const journalNames = (disk: Disk) => disk.list().filter((name) => NAME.test(name))

const nextNumber = (disk: Disk) =>
  Math.max(0, ...journalNames(disk).map((name) => Number(NAME.exec(name)?.[1] ?? 0))) + 1
