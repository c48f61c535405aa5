// CPU of this process, attributed while it runs: each mark charges everything since the mark before to
// the work that marks now. On a mix of five kinds of request this was 15 % off by kind where any split
// by duration was 80 % off, and it conserves: Σ owners + operator = the process.
//
// The clock is process.cpuUsage(): 0.5 to 5 µs with cold caches, exact to 1 µs, and it counts the process's other
// threads. threadCpuUsage() moves in scheduler ticks and reads 0 for most slices. So the marks of one turn of the
// event loop share a reading, and the turn's CPU is split by the wall clock. For three kinds of work in turns of
// eleven slices this is within 0.5 % by kind of marks that are all read. With eight runnable processes on two cores
// it is within 3.4 %; there a plain split by wall time was 22 % off.
//
// Nothing heavy may run in the libuv pool of a marked process: an asynchronous pbkdf2 made its neighbour pay 38
// times its own cost. A thread that counts its own CPU (own-cpu.ts) is taken out, and the request that it served
// claims it.
import { atTurnEnd, type AtTurnEnd } from '#base/turn-end.ts'
import { invariant } from '#base/errors.ts'
import { ownCpuNs, type ThreadCounter } from './own-cpu.ts'

/** Work that CPU time is charged to. A number, as a mark must not allocate a BigInt each time. */
export type MarkOwner = { cpuNs: number }

export interface Marks {
  /** All CPU since the last mark, of anybody, is this owner's. */
  mark(owner: MarkOwner): void
  /**
   * The same, charged at the end of this turn of the event loop at the latest, so that the clock is read twice for
   * a turn and not once for each mark. Within a turn CPU is split by the wall clock.
   */
  markLater(owner: MarkOwner): void
  /** Marks, and calls back at the end of this turn, when the owner has all its CPU. */
  markAtTurnEnd(owner: MarkOwner, then: () => void): void
  /**
   * A read has just ended for this owner, and Node tells of its end alone. So the owner gets a read's learned cost, doubled, at
   * most; the rest since the last mark is of the next mark. Other work of that time waits, and marks later.
   */
  markRead(owner: MarkOwner): void
  /** The owner of CPU that timers and background callbacks use. */
  readonly operator: MarkOwner
  /**
   * CPU of a thread of this process, that has just been made, is not charged by marks from now on but by
   * claims. There is one at a time.
   */
  join(counter: ThreadCounter): JoinedThread
  /** All CPU charged so far; equals Σ owners + operator, and the unclaimed CPU of joined threads. */
  readonly totalNs: number
}

/** A thread whose CPU is claimed; what it spent before it began to count is the operator's. */
export interface JoinedThread {
  /** The thread spent this much for the owner: charged by the next marks. */
  claim(owner: MarkOwner, cpuNs: number): void
  /** The thread has ended; what nobody claimed is the operator's. */
  leave(): void
}

type MarkClocks = {
  /** CPU time of the process. */
  readonly cpuNs?: () => number
  /** CPU time of this thread. */
  readonly ownNs?: () => number
  readonly wallNs?: () => number
  readonly atTurnEnd?: AtTurnEnd
}

/**
 * Marks from now on. The steps of the CPU clocks are multiples of 1000 ns, so that sums of doubles stay exact up to
 * 2⁵⁶ ns, 833 days of CPU.
 */
export const createMarks = (clocks: MarkClocks = {}): Marks =>
  new ProcessMarks({
    cpuNs: processCpuNs,
    ownNs: ownCpuNs,
    wallNs: () => performance.now() * NS_PER_MS,
    atTurnEnd,
    ...clocks,
  })

/** The turn of the event loop that has marks: the wall time of the last one, and whether that ended a read of nothing. */
type MarkedTurn = { sliceNs: number; isBehindRead: boolean; readonly waiting: (() => void)[] }

class ProcessMarks implements Marks {
  readonly operator: MarkOwner = { cpuNs: 0 }
  readonly #clocks: Required<MarkClocks>
  readonly #startNs: number
  #lastNs: number
  #thread: Thread | undefined
  readonly #slices = new Slices()
  /** CPU before reads, for the next mark. */
  readonly #left: MarkOwner = { cpuNs: 0 }
  /** The learned cost of a read. */
  #readNs = READ_NS
  /** Of this turn, once it has a mark. */
  #turn: MarkedTurn | undefined

  constructor(clocks: Required<MarkClocks>) {
    this.#clocks = clocks
    this.#startNs = this.#lastNs = clocks.cpuNs()
  }

  get totalNs(): number {
    return this.#lastNs - this.#startNs - this.#left.cpuNs
  }

  mark(owner: MarkOwner): void {
    this.#slice(owner)
    this.#read(0)
  }

  markLater(owner: MarkOwner): void {
    if (this.#turn !== undefined) return this.#slice(owner)
    // The wall time since the last mark is not this thread's alone: the loop may have waited.
    this.mark(owner)
    this.#beginTurn(false)
  }

  markRead(owner: MarkOwner): void {
    const turn = this.#turn
    if (turn === undefined) {
      const moved = { cpuNs: 0 }
      this.#slices.add(moved, 0)
      this.#read(0)
      const ofReadNs = Math.min(moved.cpuNs, toSteps(2 * this.#readNs))
      owner.cpuNs += ofReadNs
      this.#left.cpuNs += moved.cpuNs - ofReadNs
      return this.#beginTurn(owner === this.operator)
    }
    const nowNs = this.#clocks.wallNs()
    const wallNs = nowNs - turn.sliceNs
    // Between two reads that bring nothing there is hardly anything else.
    const isSample = turn.isBehindRead && owner === this.operator
    if (isSample) this.#readNs += (Math.min(wallNs, 4 * this.#readNs) - this.#readNs) / LEARNED_OF
    this.#slices.addRead(owner, { wallNs, mostNs: 2 * this.#readNs, left: this.#left })
    turn.sliceNs = nowNs
    turn.isBehindRead = owner === this.operator
  }

  markAtTurnEnd(owner: MarkOwner, then: () => void): void {
    this.markLater(owner)
    this.#turn?.waiting.push(then)
  }

  join(counter: ThreadCounter): JoinedThread {
    invariant(this.#thread === undefined, 'one thread joins at a time')
    const joined = new Thread(counter, this.operator, this.#clocks.ownNs)
    this.#thread = joined
    return {
      claim: (owner, claimedNs) => joined.claim(owner, claimedNs),
      leave: () => {
        if (this.#thread !== joined) return
        this.mark(this.operator)
        joined.giveUp()
        this.#thread = undefined
      },
    }
  }

  #beginTurn(isBehindRead: boolean): void {
    this.#turn = { sliceNs: this.#clocks.wallNs(), isBehindRead, waiting: [] }
    this.#clocks.atTurnEnd(() => this.#endTurn())
  }

  #slice(owner: MarkOwner): void {
    owner.cpuNs += this.#left.cpuNs
    this.#left.cpuNs = 0
    const nowNs = this.#turn === undefined ? 0 : this.#clocks.wallNs()
    this.#slices.add(owner, nowNs - (this.#turn?.sliceNs ?? 0))
    if (this.#turn === undefined) return
    this.#turn.sliceNs = nowNs
    this.#turn.isBehindRead = false
  }

  /** Charges what the clock moved, without the part of the last `restNs` of wall time: that is not marked yet. */
  #read(restNs: number): void {
    // First what the thread counted: the clock read after it shows all of that.
    const countedNs = this.#thread?.countedNs() ?? 0
    // Two runs of the kernel's scaling of user and system time can differ: never charge backwards.
    const movedNs = Math.max(0, this.#clocks.cpuNs() - this.#lastNs)
    // The thread may pay the owners of slices first.
    const leftNs = this.#thread?.take(movedNs, countedNs) ?? movedNs
    this.#lastNs += movedNs - leftNs + this.#slices.charge(leftNs, restNs)
  }

  #endTurn(): void {
    const turn = this.#turn
    this.#turn = undefined
    if (turn === undefined) return
    if (!this.#slices.isEmpty) this.#read(this.#clocks.wallNs() - turn.sliceNs)
    for (const then of turn.waiting) then()
  }
}

/**
 * The slices since the clock was read: their owners and wall times. The CPU of all of them is
 * split by wall time. Where the wall shows more than the CPU, the process was preempted in one slice or two: the
 * longest slices are cut to one length, so that the others keep exactly what they took.
 */
class Slices {
  readonly #owners: MarkOwner[] = []
  readonly #wallNs: number[] = []
  #totalNs = 0
  /** Places of those whose owner is the next one that is added. */
  readonly #ownerless: number[] = []

  get isEmpty(): boolean {
    return this.#owners.length === 0
  }

  add(owner: MarkOwner, wallNs: number): void {
    for (const place of this.#ownerless) this.#owners[place] = owner
    this.#ownerless.length = 0
    this.#push(owner, wallNs)
  }

  /** Wall time that ends with a read, which took so much at most. The time before has the next owner, or is left. */
  addRead(
    owner: MarkOwner,
    { wallNs, mostNs, left }: { wallNs: number; mostNs: number; left: MarkOwner },
  ): void {
    const ofReadNs = Math.min(wallNs, mostNs)
    if (wallNs > ofReadNs) {
      this.#ownerless.push(this.#owners.length)
      this.#push(left, wallNs - ofReadNs)
    }
    this.#push(owner, ofReadNs)
  }

  #push(owner: MarkOwner, wallNs: number): void {
    this.#owners.push(owner)
    this.#wallNs.push(wallNs)
    this.#totalNs += wallNs
  }

  /** Splits CPU in steps of 1000 ns; returns the sum: all of it, unless `restNs` of wall time passed since the last mark. */
  charge(cpuNs: number, restNs: number): number {
    const wholeNs = this.#totalNs + restNs
    const isPreempted = cpuNs < wholeNs
    const longestNs = isPreempted ? longest([...this.#wallNs, restNs], cpuNs) : wholeNs
    const scale = isPreempted || wholeNs === 0 ? 1 : cpuNs / wholeNs
    const last = this.#owners.length - 1
    let ns = 0
    let chargedNs = 0
    for (const [place, owner] of this.#owners.entries()) {
      ns += Math.min(this.#wallNs[place] ?? 0, longestNs) * scale
      // Sums of quotients may miss the whole by a hair.
      const untilNs = place === last && restNs === 0 ? cpuNs : Math.min(cpuNs, toSteps(ns))
      owner.cpuNs += untilNs - chargedNs
      chargedNs = untilNs
    }
    this.#owners.length = 0
    this.#wallNs.length = 0
    this.#ownerless.length = 0
    this.#totalNs = 0
    return chargedNs
  }
}

const STEP_NS = 1000
/** Until it is learned: a read of one byte took 10 to 20 µs. */
const READ_NS = 15_000
const LEARNED_OF = 16
const NS_PER_MS = 1_000_000
const toSteps = (ns: number): number => Math.floor(ns / STEP_NS) * STEP_NS

/** The length to which the longest of these are cut so that their sum is `sumNs`, which is less than their sum now. */
function longest(lengthsNs: number[], sumNs: number): number {
  let leftNs = sumNs
  let left = lengthsNs.length
  for (const lengthNs of lengthsNs.sort((a, b) => a - b)) {
    if (lengthNs * left >= leftNs) break
    leftNs -= lengthNs
    left--
  }
  return leftNs / left
}

/**
 * The thread's share of the process's CPU, and its payers. The share never exceeds the advance of the process's
 * clock, so all shares add up to that clock, to the nanosecond. The clock may show a batch before the thread has
 * counted it. That CPU went to the request that marked then, and is compensated from the next advance.
 */
class Thread {
  readonly #counter: ThreadCounter
  readonly #operator: MarkOwner
  readonly #ownNs: () => number
  readonly #claims: { readonly owner: MarkOwner; left: number }[] = []
  /** The part of the counter that was taken out of the clock. */
  #taken = 0
  /** Taken and not claimed. */
  #pool = 0
  /** While it starts, for 50 to 100 ms of CPU, and counts nothing: CPU of the thread that marks. */
  #own: number | undefined

  constructor(counter: ThreadCounter, operator: MarkOwner, ownNs: () => number) {
    this.#counter = counter
    this.#operator = operator
    this.#ownNs = ownNs
    this.#own = ownNs()
  }

  countedNs(): number {
    return this.#counter.countedNs()
  }

  /** The part of the clock's advance that belongs to the owner of the mark. */
  take(movedNs: number, countedNs: number): number {
    const part = Math.min(movedNs, countedNs - this.#taken)
    this.#taken += part
    this.#pool += part
    this.#pay()
    return this.#own === undefined ? movedNs - part : this.#beforeItCounts(movedNs - part)
  }

  claim(owner: MarkOwner, cpuNs: number): void {
    this.#claims.push({ owner, left: cpuNs })
    this.#pay()
  }

  giveUp(): void {
    this.#operator.cpuNs += this.#pool
    this.#pool = 0
  }

  /** The spend that marks pays for the marking thread; the operator absorbs all else. */
  #beforeItCounts(leftNs: number): number {
    const own = this.#ownNs()
    const part = Math.max(0, Math.min(leftNs, own - (this.#own ?? own)))
    this.#operator.cpuNs += leftNs - part
    this.#own = this.#counter.counts() ? undefined : own
    return part
  }

  /**
   * The newest first, since old debts belong to requests that were billed without them. In order of age, one batch
   * of 21 ms that the clock had shown before left nothing for the ten bodies behind it.
   */
  #pay(): void {
    let claim = this.#claims.at(-1)
    while (claim !== undefined && this.#pool > 0) {
      const part = Math.min(claim.left, this.#pool)
      claim.owner.cpuNs += part
      claim.left -= part
      this.#pool -= part
      if (claim.left > 0) return
      this.#claims.pop()
      claim = this.#claims.at(-1)
    }
  }
}

/** Marks of a process that serves no request: all its CPU is the operator's. */
export function createOperatorMarks(): Marks {
  const marks = createMarks()
  return {
    operator: marks.operator,
    get totalNs() {
      return marks.totalNs
    },
    mark: () => marks.mark(marks.operator),
    markLater: () => marks.markLater(marks.operator),
    markAtTurnEnd: (_, then) => marks.markAtTurnEnd(marks.operator, then),
    markRead: () => marks.mark(marks.operator),
    join: (counter) => {
      const thread = marks.join(counter)
      return { ...thread, claim: (_, cpuNs) => thread.claim(marks.operator, cpuNs) }
    },
  }
}

/** CPU of this process with all its threads. */
export function processCpuNs(): number {
  const usage = process.cpuUsage()
  return (usage.user + usage.system) * 1000
}
