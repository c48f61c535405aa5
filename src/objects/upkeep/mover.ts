// Executes a move order: passes over all blobs that are in another store until a pass finds none. The state has all
// progress: a new process begins at the first blob that is still elsewhere.
import type { Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import { storeOf, type BlobStores } from '#blobs/stores.ts'
import type { Queryable, State } from '#state/connect.ts'
import { ADVISORY_LOCKS, SCHEMA_KEY } from '#state/advisory-locks.ts'
import { moveBlob, type MovedBlob } from './move-blobs.ts'
import { loadMove, saveMove, type DamagedBlob, type MoveOrder } from './move-order.ts'

/** Four concurrent moves take at most 128 MiB; small blobs mostly wait for round trips. */
const AT_ONCE = 4
const PAGE = 64
const SAVE_MS = 500
const DAMAGED_MAX = 100

type Deps = { readonly state: State; readonly stores: BlobStores; readonly clock: Clock }

/**
 * Works on the order until it is done, stopped, or fails with an error, which is stored in the order; the next call
 * goes on. Returns false when nothing is left to do.
 */
export async function moveAsOrdered(deps: Deps, signal: AbortSignal): Promise<boolean> {
  const order = await loadMove(deps.state)
  if (order?.state !== 'moving') return false
  const moving = new Moving(deps, order, signal)
  try {
    await moving.run()
    return false
  } catch (error) {
    // Stopped by the operator, or because another process moves.
    if (error instanceof Stopped) return true
    signal.throwIfAborted()
    const { cause } = error instanceof Error ? error : {}
    const failure = [error, cause].filter(Boolean).map(messageOf).join(': ')
    await moving.save({ failure })
    throw error
  }
}

/** The order was stopped, or another process moves. */
class Stopped extends Error {}
type Row = { id: string; size: string; checksum: string }

class Moving {
  readonly #deps: Deps
  readonly #signal: AbortSignal
  #order: MoveOrder
  #damaged: DamagedBlob[] = []
  #savedAtMs = 0

  constructor(deps: Deps, order: MoveOrder, signal: AbortSignal) {
    this.#deps = deps
    this.#order = order
    this.#signal = signal
  }

  async run(): Promise<void> {
    for (;;) {
      const before = this.#order.moved
      this.#damaged = []
      for (const from of this.#deps.stores.keys())
        if (from !== this.#order.to) await this.#pass(from)
      const isDone = this.#order.moved === before
      const end = isDone ? ({ state: 'done', permille: 1000 } as const) : {}
      await this.save({ ...this.#found(), ...end })
      if (isDone) return
    }
  }

  /** Throws Stopped when the operator stopped the order. */
  async save(more: Partial<MoveOrder>): Promise<void> {
    this.#order = { ...this.#order, failure: null, ...more }
    this.#savedAtMs = this.#deps.clock.monotonicMs()
    if (!(await saveMove(this.#deps.state, this.#order))) throw new Stopped()
  }

  #found = () => ({
    damagedCount: this.#damaged.length,
    damaged: this.#damaged.slice(0, DAMAGED_MAX),
  })

  /** One pass over the blobs of a store. */
  async #pass(from: string): Promise<void> {
    for (let after: string | undefined; ;) {
      // A page at a time, to notice soon when the lock was lost with its connection.
      const rows = await this.#deps.state.session((session) => this.#page(session, from, after))
      after = rows.at(-1)?.id
      if (after === undefined) return
      await this.save({ permille: permilleOf(after) })
    }
  }

  async #page(session: Queryable, from: string, after: string | undefined): Promise<Row[]> {
    const { rows: locks } = await session.query<{ held: boolean }>(
      `select pg_try_advisory_lock($1, ${SCHEMA_KEY}) as held`,
      [ADVISORY_LOCKS.mover],
    )
    if (locks[0]?.held !== true) throw new Stopped()
    try {
      const { rows } = await session.query<Row>(
        `select id, size, checksum from blobs
         where location = $1 and ($2::uuid is null or id > $2) order by id limit $3`,
        [from, after ?? null, PAGE],
      )
      await this.#moveAll(from, rows)
      return rows
    } finally {
      // The connection returns to the pool and would keep the lock.
      await session.query('select pg_advisory_unlock_all()')
    }
  }

  /** When it resolves or rejects all moves have ended: none runs without the lock. */
  async #moveAll(from: string, rows: readonly Row[]): Promise<void> {
    const waiting = [...rows]
    const failing = new AbortController()
    const signal = AbortSignal.any([this.#signal, failing.signal])
    const work = async () => {
      for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
        signal.throwIfAborted()
        await this.#moveOne(from, { ...row, size: Number(row.size) }, signal)
      }
    }
    const works = Array.from({ length: AT_ONCE }, () =>
      work().catch((error: unknown) => {
        failing.abort(error)
      }),
    )
    await Promise.all(works)
    signal.throwIfAborted()
  }

  async #moveOne(from: string, blob: MovedBlob, signal: AbortSignal): Promise<void> {
    const { state, stores, clock } = this.#deps
    const source = storeOf(stores, { location: from })
    const target = storeOf(stores, { location: this.#order.to })
    const found = await moveBlob(state, { source, target }, blob, signal)
    if (found === undefined)
      this.#order = {
        ...this.#order,
        moved: this.#order.moved + 1,
        bytes: this.#order.bytes + blob.size,
      }
    else this.#damaged.push({ id: blob.id, location: from, found })
    if (clock.monotonicMs() - this.#savedAtMs > SAVE_MS) await this.save({})
  }
}

const permilleOf = (id: string): number =>
  Math.floor((Number.parseInt(id.slice(0, 4), 16) * 1000) / 0x1_0000)
