// CPU of this process, attributed while it runs: each mark charges everything since the mark before to
// the work that marks now. On a mix of five kinds of request this was 15 % off by kind where any split
// by duration was 80 % off, and it conserves: Σ owners + operator = the process.
//
// The clock is process.cpuUsage(): 0.5 µs (0.8 µs on a contended machine), exact to 1 µs, and it counts
// the process's other threads. threadCpuUsage() moves in scheduler ticks and reads 0 for most slices;
// wall clocks over-count 2.8× when the machine is contended. So nothing heavy may run in the libuv pool
// of a marked process: an asynchronous pbkdf2 made its neighbour pay 38 times its own cost. A thread that
// counts its own CPU (own-cpu.ts) is taken out, and the request that it served claims it.
import { invariant } from '#base/errors.ts'
import { ownCpuNs, type ThreadCounter } from './own-cpu.ts'

/** Work that CPU time is charged to. A number, as a mark must not allocate a BigInt each time. */
export type MarkOwner = { cpuNs: number }

export interface Marks {
  /** All CPU since the last mark, of anybody, is this owner's. */
  mark(owner: MarkOwner): void
  /** CPU of timers and background callbacks: they mark this one. */
  readonly operator: MarkOwner
  /**
   * CPU of a thread of this process, that has just been made, is not charged by marks from now on but by
   * claims. There is one at a time.
   */
  join(counter: ThreadCounter): JoinedThread
  /** All CPU charged so far; equals Σ owners + operator, and what of a joined thread is not claimed yet. */
  readonly totalNs: number
}

/** A thread whose CPU is claimed; what it spent before it began to count is the operator's. */
export interface JoinedThread {
  /** So much of what the thread has counted was spent for this owner: charged by the next marks. */
  claim(owner: MarkOwner, cpuNs: number): void
  /** The thread has ended; what nobody claimed is the operator's. */
  leave(): void
}

/**
 * Marks from now on. `cpuNs` is the process's CPU time; its steps are multiples of 1000 ns, so that
 * sums of doubles stay exact up to 2⁵⁶ ns, 833 days of CPU.
 */
export function createMarks(
  deps: { readonly cpuNs?: () => number; readonly ownNs?: () => number } = {},
): Marks {
  const { cpuNs = processCpuNs, ownNs = ownCpuNs } = deps
  const operator: MarkOwner = { cpuNs: 0 }
  const start = cpuNs()
  let last = start
  let thread: Thread | undefined
  const mark = (owner: MarkOwner) => {
    // First what the thread counted: the clock read after it shows all of that.
    const countedNs = thread?.countedNs() ?? 0
    const now = cpuNs()
    // Two runs of the kernel's scaling of user and system time can differ: never charge backwards.
    if (now <= last) return
    // The thread may pay this same owner first.
    const left = thread === undefined ? now - last : thread.take(now - last, countedNs)
    owner.cpuNs += left
    last = now
  }
  return {
    operator,
    get totalNs() {
      return last - start
    },
    mark,
    join(counter) {
      invariant(thread === undefined, 'one thread joins at a time')
      const joined = new Thread(counter, operator, ownNs)
      thread = joined
      return {
        claim: (owner, claimedNs) => joined.claim(owner, claimedNs),
        leave() {
          if (thread !== joined) return
          mark(operator)
          joined.giveUp()
          thread = undefined
        },
      }
    },
  }
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
  /** Of the counter: what was taken out of the clock. */
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

  /** Of so much that the clock moved, what is left for who marks. */
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
    join: (counter) => {
      const thread = marks.join(counter)
      return { ...thread, claim: (_, cpuNs) => thread.claim(marks.operator, cpuNs) }
    },
  }
}

function processCpuNs(): number {
  const usage = process.cpuUsage()
  return (usage.user + usage.system) * 1000
}
