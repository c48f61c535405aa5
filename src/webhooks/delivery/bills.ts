// The CPU of deliveries, charged to their accounts: one charge a minute while an account has deliveries. An account that
// cannot pay gets its events all the same, one at a time and at the operator's cost: the event that says that the balance
// is empty must arrive. So it is while the ledger is away.
import type { TimerClock } from '#base/clock.ts'
import { nj } from '#base/units.ts'
import { isSilent, isUnpayable } from '#charging/faults.ts'
import { during, type DuringDeps, type WorkMeter } from '#charging/during.ts'
import type { Payer } from '#charging/spend.ts'

export interface AccountBill {
  readonly isPaid: boolean
  /** The CPU of this process since the last mark of anybody is the account's. */
  mark(): void
  /** One delivery less. */
  release(): void
}

export interface DeliveryBills {
  /** For one delivery. Synchronous while the account has a bill. Rejects only for a fault of ours. */
  take(account: string): AccountBill | Promise<AccountBill>
  /** Resolves when everything is charged. */
  close(): Promise<void>
}

export type BillsDeps = DuringDeps & {
  readonly clock: TimerClock
  readonly payerOf: (account: string) => Payer | Promise<Payer>
  /** Marks CPU as the operator's. */
  readonly markOwn: () => void
}

/** Of a bill, which may go on for years: no amount that can be reached. */
const CEILING_NJ = nj(10n ** 18n)
/** A bill without deliveries is closed after this time: a charge is a row for ever. */
const IDLE_MS = 5000
/** An account that could not pay is asked again after this time. */
const UNPAID_MS = 5000

export function createDeliveryBills(deps: BillsDeps): DeliveryBills {
  const open = new Map<string, OpenBill | Promise<OpenBill>>()
  const ending = new Set<Promise<unknown>>()

  async function begin(account: string): Promise<OpenBill> {
    const begun = Promise.withResolvers<WorkMeter>()
    const over = Promise.withResolvers<void>()
    const bill = new OpenBill(deps, over.resolve, () => open.delete(account))
    const long = {
      payerOf: () => deps.payerOf(account),
      operation: 'webhook.delivery',
      ceilingNj: CEILING_NJ,
      served: { resource: `webhooks:${account}` },
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
        if (!isUnpayable(error) && !isSilent(error)) throw error
      },
    )
    bill.rest()
    return bill
  }

  return {
    take(account) {
      const known = open.get(account)
      if (known instanceof OpenBill) return known.take()
      const opening =
        known ??
        begin(account).then(
          (bill) => {
            open.set(account, bill)
            return bill
          },
          (error: unknown) => {
            open.delete(account)
            throw error
          },
        )
      open.set(account, opening)
      return opening.then((bill) => bill.take())
    },
    async close() {
      for (const begun of await Promise.allSettled(open.values()))
        if (begun.status === 'fulfilled') begun.value.end()
      await Promise.all(ending)
    },
  }
}

class OpenBill implements AccountBill {
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

  /** Ends after a while without deliveries; unpaid, after a while in any case. */
  rest(): void {
    this.#cancel()
    this.#cancel = this.#deps.clock.setTimer(this.isPaid ? IDLE_MS : UNPAID_MS, () => this.end())
  }

  /** CPU that deliveries under way still use is the operator's. */
  end(): void {
    this.#cancel()
    this.#meter = undefined
    this.#closed()
    this.#over()
  }
}
