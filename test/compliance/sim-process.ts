// A process of a history of evidence packs, as the ledger sees it: a session in the state, and a journal that outlives
// a kill. Charges are journaled at once, and posted by a tick or by the next life.
import { newIdBody } from '#base/ids.ts'
import { nj, priceOf, smaller, type Nj } from '#base/units.ts'
import { composeCharge } from '#charging/compose-charge.ts'
import type { WorkSpend } from '#charging/during.ts'
import type { Payer, Served, Spend } from '#charging/spend.ts'
import { NO_RATES } from '#contract/ledger/indirect-rates.ts'
import type { SealedLog } from '#compliance/sealed-log.fixture.ts'
import type { Charge } from '#contract/ledger/charge.ts'
import { fault } from '#contract/errors.ts'
import type { OperationName } from '#contract/operations.ts'
import type { State } from '#state/connect.ts'
import type { Schedule } from '../sim/schedule.ts'

export type SimWorld = {
  readonly state: State
  readonly schedule: Schedule
  readonly log: SealedLog
  /** All that was journaled, of all processes. */
  readonly charges: Charge[]
}

const PUSD_PER_J = 69_444n
const TERMS = {
  tariff: {
    meter: 'm1',
    method: 'model',
    bandPct: '30',
    njPerCpuS: 3_500_000_000n,
    pueMilli: '1000',
    routedTo: 'ergon/local/cpu-x64',
    factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 's', year: '2025', basis: 'assumed' },
    indirect: NO_RATES,
  },
  priceId: 'price_1',
  pusdPerJ: PUSD_PER_J,
} as const

type Work = {
  readonly payer: Payer
  readonly operation: OperationName
  readonly served: Served
  readonly status: number
  readonly fromMs: number
  readonly energy: Nj
}

export class SimProcess {
  readonly #world: SimWorld
  readonly #name: string
  #life = 0
  #seq = 0n
  /** Journaled, and not posted yet. */
  #pending: Charge[] = []

  constructor(world: SimWorld, name: string) {
    this.#world = world
    this.#name = name
  }

  /** Begins the next life: it posts what the life before journaled, and ends that. */
  async open(): Promise<void> {
    await this.#post()
    await this.end()
    this.#life++
    await this.#world.state.query(
      `insert into sessions (id, process, life, opened_at, until)
       values ($1, $2, $3, ledger_now(), ledger_now() + interval '2 seconds')`,
      [this.#session, this.#name, this.#life],
    )
  }

  async end(): Promise<void> {
    await this.#post()
    await this.#world.state.query(
      'update sessions set closed_at = ledger_now() where id = $1 and closed_at is null',
      [this.#session],
    )
  }

  async tick(): Promise<void> {
    await this.#post()
    await this.#world.state.query(
      "update sessions set until = ledger_now() + interval '2 seconds' where id = $1",
      [this.#session],
    )
  }

  append({ energy, ...work }: Work): Charge {
    const { schedule } = this.#world
    const body = newIdBody(work.fromMs)
    const charge = composeCharge({
      ...work,
      ids: { receipt: `rcpt_${body}`, request: `req_${body}` },
      record: { session: this.#session, seq: ++this.#seq },
      toMs: schedule.wallMs,
      terms: TERMS,
      parts: [{ meter: 'm1', method: 'model', band_pct: '30', energy_nj: energy.toString() }],
      cost: priceOf(energy, PUSD_PER_J),
    })
    this.#world.charges.push(charge)
    this.#pending.push(charge)
    return charge
  }

  get #session(): string {
    return `${this.#name}.${this.#life}`
  }

  async #post(): Promise<void> {
    const posted = this.#pending
    this.#pending = []
    if (posted.length > 0) await this.#world.log.post(posted)
  }
}

type PackSpend = WorkSpend & Pick<Spend, 'settleAtTurnEnd'>

export type SpendDeps = {
  readonly process: SimProcess
  readonly wallMs: () => number
  /** The energy between two marks. */
  readonly useNj: () => Nj
  /** False where the account has nothing left. */
  readonly isPaid: (account: string) => boolean
}

/** A spend that holds its ceiling: it is billed what it measured, and never more. */
export function openSimSpend({ process, wallMs, useNj, isPaid }: SpendDeps): PackSpend {
  const fromMs = wallMs()
  const served: Served = {}
  const { signal: cut } = new AbortController()
  let measured = nj(0n)
  let admitted: { payer: Payer; operation: OperationName; ceiling: Nj } | undefined
  let settled: Charge | undefined
  const mark = () => void (measured = nj(measured + useNj()))
  const settle = (status: number): Charge => {
    if (settled !== undefined) return settled
    if (admitted === undefined) throw new TypeError('It is settled before it is admitted')
    const { payer, operation, ceiling } = admitted
    const energy = smaller(measured, ceiling)
    return (settled = process.append({ payer, operation, served, status, fromMs, energy }))
  }
  return {
    fromMs,
    happened: () => undefined,
    admit(payer, operation, ceiling) {
      if (!isPaid(payer.account))
        throw fault('balance_depleted', 'Could not go on: the balance is used up')
      admitted = { payer, operation, ceiling }
    },
    served: (facts) => void Object.assign(served, facts),
    mark,
    bound: mark,
    claim: () => undefined,
    claimThread: () => undefined,
    cut,
    cutReason: undefined,
    drop: () => undefined,
    finish: () => undefined,
    measured: () => measured,
    settle,
    async settleAtTurnEnd(status) {
      mark()
      return settle(status)
    },
  }
}
