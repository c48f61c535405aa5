// Spends the money of an account in tests, as a session of a gateway does.
import { timestamp } from '#base/clock.ts'
import { createLedger } from '#ledger/ledger.ts'
import { testCharge } from '#ledger/test-state.fixture.ts'
import type { State } from '#state/connect.ts'

export class Spender {
  readonly #state: State
  readonly #account: string
  #session = ''
  #ticks = 0n
  #seq = 0n
  #leased = 0n

  constructor(state: State, account: string) {
    this.#state = state
    this.#account = account
  }

  async open(): Promise<void> {
    const process = this.#account.replace('_', '-')
    const { session } = await createLedger(this.#state).openSession(process)
    this.#session = session
  }

  /** Spends a part of the lease in percent, and leases anew. */
  async spend(part: number, want: bigint): Promise<void> {
    const wallet = `money:${this.#account}`
    const money = (this.#leased * BigInt(part)) / 100n
    const seq = this.#seq + 1n
    const charge = {
      session: this.#session,
      seq,
      account: this.#account,
      ownNj: 1000n,
      upstreamNj: 0n,
      money,
      at: timestamp(Date.now()),
    }
    const result = await createLedger(this.#state).tick({
      session: this.#session,
      number: ++this.#ticks,
      epoch: 0n,
      meter: 'm1',
      records: money > 0n ? [testCharge(charge)] : [],
      debits: money > 0n ? [{ seq, wallet, amount: money }] : [],
      wants: [{ wallet, amount: want }],
    })
    if (money > 0n) this.#seq = seq
    this.#leased = result.grants[0]?.amount ?? 0n
  }
}
