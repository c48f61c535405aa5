// One run: three gateways, five accounts, tokens that are revoked, top-ups, a day that changes, and
// everything that can go wrong. In the end all is healed, posted and compared.
import { messageOf } from '#base/errors.ts'
import { chargeBytes, type Charge } from '#contract/ledger/charge.ts'
import { mintToken } from '#identity/token-text.ts'
import { changeCredentials, closeSession } from '#ledger/reference/tick.ts'
import { addAccount, brokenInvariants, newBooks, type Books } from '#ledger/reference/books.ts'
import { expireLots, grantFunds } from '#ledger/reference/funds.ts'
import { NOBODY } from '#charging/unattributed.ts'
import { plant as putIn, type Plant } from './faults.ts'
import { Gateway } from './gateway.ts'
import { Schedule } from './schedule.ts'
import { TARIFF } from './tariff.ts'
import { tokenTable, type SimToken } from './tokens.ts'

const CHAOS_MS = 7000
const HEAL_MS = 14_000
const PRICE = { id: 'price_1', pusdPerJ: 69_444n, freeTierNj: 6_000_000_000n }
type Token = SimToken & { returnedMs: number }
export type Result = { readonly faults: string[]; readonly charges: number; readonly paid: number }

export async function simulate(seed: number, plant: Plant = 'none'): Promise<Result> {
  using _ = putIn(plant)
  return await new Simulation(seed, plant).run()
}

class Simulation {
  readonly #schedule: Schedule
  readonly #books: Books
  readonly #gateways: Gateway[]
  readonly #tokens: Token[]
  readonly #faults: string[] = []
  readonly #mayBeLost = new Set<string>()
  #chaos = true

  constructor(seed: number, plant: Plant) {
    const untilMidnightMs = seed % 2 === 0 ? 5000 : 3_600_000
    const schedule = new Schedule(seed, Date.UTC(2026, 10, 22) - untilMidnightMs)
    const books = newBooks(PRICE)
    books.tariffs.set('m1', TARIFF)
    const accounts = ['acct_a', 'acct_b', 'acct_c', 'acct_d', 'acct_e']
    for (const [index, id] of accounts.entries()) {
      addAccount(books, id, index % 2 === 0 ? 'live' : 'test', 300_000n)
      if (index < 3) fund(books, id, BigInt(schedule.between(1, 40) * 100_000), schedule.wallMs)
    }
    this.#tokens = accounts.flatMap((account, index) =>
      [0, 1].map((one) => ({
        text: mintToken(),
        id: `tok_${index}${one}`,
        account,
        revoked: false,
        returnedMs: Number.POSITIVE_INFINITY,
      })),
    )
    const loss = schedule.pick([0, 1, 10])
    const lossPercent = () => (this.#chaos ? loss : 0)
    const broken = (error: unknown) => {
      this.#faults.push(`broken: ${error instanceof Error ? error.stack : messageOf(error)}`)
    }
    this.#schedule = schedule
    this.#books = books
    const tokens = tokenTable(books, this.#tokens)
    this.#gateways = ['gw-1', 'gw-2', 'gw-3'].map(
      (name) => new Gateway({ name, schedule, books, lossPercent, plant, tokens, broken }),
    )
  }

  async run(): Promise<Result> {
    const schedule = this.#schedule
    this.#load()
    this.#trouble()
    for (let at = 4000; at < CHAOS_MS; at += 4000) {
      await schedule.run(at)
      this.#checkBooks(`after ${at} ms`)
    }
    await schedule.run(CHAOS_MS)
    this.#chaos = false
    await this.#heal()
    this.#checkBooks('in the end')
    this.#checkReceipts()
    const charges = this.#books.charges.length
    const paid = this.#books.charges.filter((charge) => charge.money > 0n).length
    return { faults: this.#faults, charges, paid }
  }

  #load(): void {
    const schedule = this.#schedule
    const next = () => {
      if (!this.#chaos) return
      void this.#request()
      schedule.after(schedule.between(1, 60), next)
    }
    schedule.after(300, next)
  }

  async #request(): Promise<void> {
    const schedule = this.#schedule
    const token = schedule.pick(this.#tokens as [Token, ...Token[]])
    const gateway = schedule.pick(this.#gateways as [Gateway, ...Gateway[]])
    const sentMs = schedule.nowMs
    let cpuNs = 0n
    const steps = Array.from({ length: schedule.between(1, 5) }, () => {
      cpuNs += BigInt(schedule.between(0, 400)) * 1_000_000n
      return { waitMs: schedule.between(1, 250), cpuNs }
    })
    const ceiling = BigInt(schedule.between(100, 6000)) * 1_000_000n
    const served = await gateway.serve({
      token: token.text,
      ceiling,
      steps,
      streamed: schedule.chance() < 0.3,
    })
    if (served?.admitted === true && token.returnedMs <= sentMs)
      this.#faults.push(`${token.id} was admitted after its revocation had returned`)
  }

  #trouble(): void {
    const schedule = this.#schedule
    const next = () => {
      if (!this.#chaos) return
      this.#troubleOnce(schedule.pick(this.#gateways as [Gateway, ...Gateway[]]))
      schedule.after(schedule.between(50, 900), next)
    }
    schedule.after(500, next)
  }

  #troubleOnce(gateway: Gateway): void {
    const schedule = this.#schedule
    const kind = schedule.between(1, 100)
    if (kind <= 15) this.#kill(gateway, 'kill')
    else if (kind <= 25) this.#kill(gateway, 'power')
    else if (kind <= 40) {
      gateway.isCut = true
      schedule.after(schedule.between(100, 6000), () => (gateway.isCut = false))
    } else if (kind <= 50) gateway.stop(schedule.between(50, 4000))
    else if (kind <= 53) gateway.failDisk()
    else if (kind <= 70) this.#revoke(schedule.pick(this.#tokens as [Token, ...Token[]]))
    else if (kind <= 90) {
      const account = schedule.pick(['acct_a', 'acct_b', 'acct_c', 'acct_d'])
      fund(this.#books, account, BigInt(schedule.between(1, 500) * 1000), schedule.wallMs)
    } else expireLots(this.#books, schedule.wallMs)
  }

  #kill(gateway: Gateway, how: 'kill' | 'power'): void {
    const schedule = this.#schedule
    if (how === 'power')
      for (const { atMs, id } of gateway.told) if (atMs > gateway.durableMs) this.#mayBeLost.add(id)
    gateway.kill(how, schedule.between(50, 2500))
  }

  /** As identity/tokens.ts does: returns when no session can still honour the token. */
  #revoke(token: Token): void {
    if (token.revoked) return
    token.revoked = true
    const epoch = changeCredentials(this.#books, token.id, token.account)
    const look = () => {
      const behind = [...this.#books.sessions.values()].some(
        (one) => one.open && one.untilMs > this.#schedule.wallMs && one.epoch < epoch,
      )
      if (behind) this.#schedule.after(20, look)
      else token.returnedMs = this.#schedule.nowMs
    }
    look()
  }

  /** Ends all trouble, kills every gateway so that each replays, and ends its last session. */
  async #heal(): Promise<void> {
    const schedule = this.#schedule
    for (const gateway of this.#gateways) {
      gateway.isCut = false
    }
    await schedule.run(CHAOS_MS + 6000)
    for (const gateway of this.#gateways) gateway.kill('kill', 10)
    const quiet = () => this.#gateways.every(({ life }) => life?.session.pending === 0)
    await schedule.run(schedule.nowMs + 100)
    await schedule.run(schedule.nowMs + HEAL_MS, quiet)
    if (!quiet()) this.#faults.push('a gateway does not come back')
    for (const { life } of this.#gateways) life?.session.abandon()
    for (const [id, session] of this.#books.sessions)
      if (session.open) closeSession(this.#books, id)
  }

  #checkBooks(when: string): void {
    for (const broken of brokenInvariants(this.#books)) this.#faults.push(`${broken} ${when}`)
    for (const { kind, detail } of this.#books.alarms)
      if (kind === 'lease_exceeded') this.#faults.push(`${kind} ${when}: ${JSON.stringify(detail)}`)
  }

  #checkReceipts(): void {
    const found = new Map<string, string>()
    for (const charge of this.#books.charges) {
      if (found.has(charge.id)) this.#faults.push(`${charge.id} was posted twice`)
      const text = this.#books.records.get(charge.session)?.[Number(charge.seq) - 1]
      found.set(charge.id, text ?? '')
    }
    for (const { acknowledged, told, name } of this.#gateways) {
      for (const { id } of told)
        if (!found.has(id) && !this.#mayBeLost.has(id))
          this.#faults.push(`${id} was told by ${name} and is not in the ledger`)
      this.#checkShares(name, acknowledged)
      for (const charge of acknowledged) {
        // Of a charge that a power cut took, the promise in its stream's head may be what is left.
        if (this.#mayBeLost.has(charge.id) || charge.account === NOBODY.account) continue
        if (found.get(charge.id) !== chargeBytes(charge).toString())
          this.#faults.push(`${charge.id} is not what ${name} acknowledged`)
      }
    }
  }

  /** Requests of nobody share charges: one whose answer was cut off is in the charge and was not acknowledged. */
  #checkShares(name: string, acknowledged: readonly Charge[]): void {
    const stated = new Map<string, bigint>()
    for (const { id, account, energy_nj } of acknowledged)
      if (account === NOBODY.account) stated.set(id, (stated.get(id) ?? 0n) + BigInt(energy_nj))
    for (const [id, energyNj] of stated) {
      const charge = this.#books.charges.find((one) => one.id === id)
      if (this.#mayBeLost.has(id) || (charge !== undefined && charge.energyNj >= energyNj)) continue
      this.#faults.push(`${id} of nobody is less than what ${name} acknowledged`)
    }
  }
}

function fund(books: Books, account: string, amount: bigint, nowMs: number): void {
  const lot = { account, amount, kind: 'funds', priority: 50, transferKind: 'top_up' }
  grantFunds(books, Number(amount) % 3 === 0 ? { ...lot, expiresMs: nowMs + 2500 } : lot, nowMs)
}
