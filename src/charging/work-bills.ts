// The CPU of many pieces of background work of this process, charged to their accounts: one charge a minute for each resource
// while there is work of it. Work of an account that cannot pay has no bill, and its owner decides what becomes of it. So it
// is while the ledger is away.
import type { TimerClock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { nj } from '#base/units.ts'
import type { OperationName } from '#contract/operations.ts'
import { isSilent, isUnpayable } from './faults.ts'
import { during, type DuringDeps, type WorkMeter } from './during.ts'
import type { Payer } from './spend.ts'

export interface WorkBill {
  readonly isPaid: boolean
  /** Why the account could not pay, or the ledger did not answer. */
  readonly refusal?: ErgonError | undefined
  /** The CPU of this process since the last mark of anybody is the account's; the operator's where it does not pay. */
  mark(): void
  /** One piece of work less. */
  release(): void
}

/** The account of the work, and the resource that receipts name. */
export type WorkOwner = { readonly account: string; readonly resource: string }

export interface WorkBills {
  /** For one piece of work. Synchronous while the resource has a bill. Rejects only for a fault of ours. */
  take(owner: WorkOwner): WorkBill | Promise<WorkBill>
  /** Resolves when everything is charged. */
  close(): Promise<void>
}

export type BillsDeps = DuringDeps & {
  readonly clock: TimerClock
  readonly operation: OperationName
  readonly payerOf: (account: string) => Payer | Promise<Payer>
  /** Marks CPU as the operator's. */
  readonly markOwn: () => void
}

/** Of a bill, which may go on for years: no amount that can be reached. */
const CEILING_NJ = nj(10n ** 18n)
/** A bill without work is closed after this time: a charge is a row for ever. */
const IDLE_MS = 5000
/** An account that could not pay is asked again after this time. */
const UNPAID_MS = 5000

export function createWorkBills(deps: BillsDeps): WorkBills {
  const open = new Map<string, OpenBill | Promise<OpenBill>>()
  const ending = new Set<Promise<unknown>>()

  async function begin({ account, resource }: WorkOwner): Promise<OpenBill> {
    const begun = Promise.withResolvers<WorkMeter>()
    const over = Promise.withResolvers<void>()
    const bill = new OpenBill(deps, over.resolve, () => open.delete(resource))
    const long = {
      payerOf: () => deps.payerOf(account),
      operation: deps.operation,
      ceilingNj: CEILING_NJ,
      served: { resource },
    } as const
    const work = during(deps, long, async (meter, signal) => {
      signal.addEventListener('abort', () => bill.end(), { once: true })
      begun.resolve(meter)
      await over.promise
    })
    const settled = work.catch((error: unknown) => begun.reject(error))
    ending.add(settled)
    void settled.finally(() => ending.delete(settled))
    await begun.promise.then(
      (meter) => bill.pay(meter),
      (error: unknown) => {
        if (!(error instanceof ErgonError)) throw error
        if (!isUnpayable(error) && !isSilent(error)) throw error
        bill.refusal = error
      },
    )
    bill.rest()
    return bill
  }

  return {
    take(owner) {
      const { resource } = owner
      const known = open.get(resource)
      if (known instanceof OpenBill) return known.take()
      const opening =
        known ??
        begin(owner).then(
          (bill) => {
            open.set(resource, bill)
            return bill
          },
          (error: unknown) => {
            open.delete(resource)
            throw error
          },
        )
      open.set(resource, opening)
      return opening.then((bill) => bill.take())
    },
    async close() {
      for (const begun of await Promise.allSettled(open.values()))
        if (begun.status === 'fulfilled') begun.value.end()
      await Promise.all(ending)
    },
  }
}

class OpenBill implements WorkBill {
  refusal: ErgonError | undefined
  readonly #deps: BillsDeps
  readonly #over: () => void
  readonly #closed: () => void
  #meter: WorkMeter | undefined
  #users = 0
  #cancel: () => void = () => undefined

  constructor(deps: BillsDeps, over: () => void, closed: () => void) {
    this.#deps = deps
    this.#over = over
    this.#closed = closed
  }

  get isPaid(): boolean {
    return this.#meter !== undefined
  }

  pay(meter: WorkMeter): void {
    this.#meter = meter
  }

  take(): this {
    if (this.#users++ === 0 && this.isPaid) this.#cancel()
    return this
  }

  mark(): void {
    if (this.#meter === undefined) this.#deps.markOwn()
    else this.#meter.mark()
  }

  release(): void {
    if (--this.#users === 0 && this.isPaid) this.rest()
  }

  /** Ends after a while without work; unpaid, after a while in any case. */
  rest(): void {
    this.#cancel()
    this.#cancel = this.#deps.clock.setTimer(this.isPaid ? IDLE_MS : UNPAID_MS, () => this.end())
  }

  /** CPU that work under way still uses is the operator's. */
  end(): void {
    this.#cancel()
    this.#meter = undefined
    this.#closed()
    this.#over()
  }
}
