// One history of evidence packs in virtual time, a function of its seed. The code and its SQL are real. Packs are asked
// for and deleted while charges come and are signed. Processes are killed before and after a statement and in the midst
// of a file, and two of them work at once. The state loses answers, the disk errs or is full, accounts are deleted, and
// packs expire. At last all is quiet, and judge-packs.ts compares.
import { newId } from '#base/ids.ts'
import { nj } from '#base/units.ts'
import { deleteAccounts } from '#accounts/delete-accounts.ts'
import { MemoryDisk } from '#blobs/memory-disk.fixture.ts'
import { ceilingOfPack } from '#compliance/build/ceiling.ts'
import { COMPLIANCE_TASKS } from '#compliance/tasks.ts'
import type { SealedLog } from '#compliance/sealed-log.fixture.ts'
import { PACKS_OPEN_MAX } from '#contract/compliance/compliance.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import type { TasksCore, TasksPart } from '#node/tasks-part.ts'
import type { State } from '#state/connect.ts'
import { hasSqlState } from '#state/sql-states.ts'
import { Schedule } from '../sim/schedule.ts'
import { anyOf, judgePacks, sweepFiles, type AskedPack, type SimTransfer } from './judge-packs.ts'
import { lieOf, type PackPlant } from './pack-plants.ts'
import { quiet, SimBuilder, usedNj, type Fate } from './sim-builder.ts'
import { SimProcess, type SimWorld } from './sim-process.ts'

const START_MS = Date.UTC(2026, 0, 1)
/** Histories of one state come one after the other. */
const HISTORY_MS = 1000 * 86_400_000
const SECOND_MS = 1000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const KEPT_DAYS = 90
const STEPS_MIN = 60
const STEPS_MAX = 260
/** The most statements of a step. */
const TURNS_MAX = 14
/** Turns and waits of the end. */
const ROUNDS_MAX = 6000
const TICK_ROUNDS = 30

export type PackHistory = {
  readonly faults: readonly string[]
  readonly packs: number
  readonly made: number
  readonly kills: number
}

/** `state` has a single connection, whose clock is the history's; `log` is its log, of all histories before. */
export const simulatePacks = (
  { state, log }: { readonly state: State; readonly log: SealedLog },
  seed: number,
  plant?: PackPlant,
): Promise<PackHistory> => new History({ state, log }, seed, plant).run()

type Account = { readonly id: string; isLeaving: boolean; readonly isPaid: boolean }

class History {
  readonly #world: SimWorld
  readonly #schedule: Schedule
  readonly #plant: PackPlant | undefined
  readonly #disk = new MemoryDisk()
  readonly #accounts: readonly Account[]
  readonly #asked: AskedPack[] = []
  readonly #transfers: SimTransfer[] = []
  readonly #gateway: SimProcess
  readonly #makers: readonly SimProcess[]
  readonly #lives: SimBuilder[] = []
  readonly #tasks: TasksPart
  /** The most that is used between two marks. */
  readonly #mostMj: number
  readonly #signal = new AbortController().signal
  #gatewayLives = false
  #expiredBeforeMs = 0
  #kills = 0

  constructor(
    { state, log }: { readonly state: State; readonly log: SealedLog },
    seed: number,
    plant: PackPlant | undefined,
  ) {
    const schedule = new Schedule(seed, START_MS + (seed % 50) * HISTORY_MS)
    this.#schedule = schedule
    this.#plant = plant
    this.#world = { state, schedule, log, charges: [] }
    this.#accounts = ['a', 'b', 'c'].map((name) => ({
      id: `acct_${seed}${name}`,
      isLeaving: false,
      isPaid: schedule.chance() < 0.93,
    }))
    this.#gateway = new SimProcess(this.#world, `gw-${seed}`)
    const isDouble = schedule.chance() < 0.4
    this.#makers = (isDouble ? ['a', 'b'] : ['a']).map(
      (name) => new SimProcess(this.#world, `packs-${seed}${name}`),
    )
    this.#mostMj = schedule.pick([5, 50, 20_000])
    const core = { state } as TasksCore
    this.#tasks = COMPLIANCE_TASKS.open(core, { keptDays: KEPT_DAYS }) as TasksPart
  }

  async run(): Promise<PackHistory> {
    await this.#pass(0)
    for (const { id } of this.#accounts) {
      await addTestAccount(this.#world.state, { id, env: 'test', lowWater: 0n })
      await this.#world.state.query(
        "insert into wallets (id, unit, bounded) values ('money:' || $1, 'tUSD', true)",
        [id],
      )
    }
    await this.#openGateway()
    await this.#begin(anyOf(this.#makers, 0))
    const steps = this.#schedule.between(STEPS_MIN, STEPS_MAX)
    for (let nth = 0; nth < steps; nth++) await this.#step()
    const ended = await this.#calm()
    const hides = this.#plant === 'the file of a killed build stays'
    await sweepFiles({ world: this.#world, disk: this.#disk }, hides)
    const faults = await judgePacks({
      world: this.#world,
      disk: this.#disk,
      asked: this.#asked,
      transfers: this.#transfers,
      gone: new Set(this.#accounts.filter((one) => one.isLeaving).map(({ id }) => id)),
      expiredBeforeMs: this.#expiredBeforeMs,
      atOnce: BigInt(this.#makers.length),
    })
    const { rows } = await this.#world.state.query<{ made: number }>(
      "select count(*)::int as made from evidence_packs where status = 'ready'",
    )
    // The next history of this state has other files.
    await this.#world.state.query('select drop_pack(id) from evidence_packs')
    await this.#world.state.query('delete from blob_garbage')
    return {
      faults: [...(ended ? [] : ['packs wait or run for ever']), ...faults],
      packs: this.#asked.length,
      made: rows[0]?.made ?? 0,
      kills: this.#kills,
    }
  }

  async #pass(ms: number): Promise<void> {
    await this.#schedule.run(this.#schedule.nowMs + ms)
    await this.#world.state.query("select set_config('ergon.now', $1, false)", [
      new Date(this.#schedule.wallMs).toISOString(),
    ])
    for (const life of this.#lives) await life.still()
  }

  get #account(): Account {
    return anyOf(this.#accounts, this.#schedule.between(0, 100))
  }

  async #step(): Promise<void> {
    const schedule = this.#schedule
    const luck = schedule.chance()
    if (luck < 0.55) return await this.#turns()
    if (luck < 0.63) return await this.#use()
    if (luck < 0.71) return await this.#tick()
    if (luck < 0.75) return await this.#world.log.seal()
    if (luck < 0.81) return await this.#ask()
    if (luck < 0.82) return await this.#delete()
    if (luck < 0.86) return await this.#turnLife()
    if (luck < 0.89) return await this.#turnGateway()
    if (luck < 0.91) return this.#spoilDisk()
    if (luck < 0.916) return await this.#leave(this.#account)
    if (luck < 0.925) return await this.#runDeletions()
    if (luck < 0.93) return await this.#expire()
    if (luck < 0.934) return await this.#rest(schedule.between(HOUR_MS, 40 * DAY_MS))
    await this.#pass(schedule.between(1, 4 * SECOND_MS))
  }

  /** The machine sleeps for a long time. */
  async #rest(ms: number): Promise<void> {
    for (const life of this.#lives) life.rest(ms)
    await this.#pass(ms)
  }

  #fate(): Fate {
    const luck = this.#schedule.chance()
    if (luck < 0.988) return 'is done'
    if (luck < 0.991) return 'is away'
    if (luck < 0.994) return 'loses its answer'
    return luck < 0.997 ? 'dies before' : 'dies after'
  }

  async #turns(): Promise<void> {
    for (let count = this.#schedule.between(1, TURNS_MAX); count > 0; count--)
      await this.#turn(this.#fate())
  }

  /** One statement of one of the processes; some time passes. */
  async #turn(fate: Fate): Promise<void> {
    const asking = this.#lives.filter(({ isAsking }) => isAsking)
    await this.#pass(this.#schedule.between(0, asking.length === 0 ? 2 * SECOND_MS : 60))
    if (asking.length === 0) return
    const life = anyOf(asking, this.#schedule.between(0, 100))
    await life.turn(fate)
    if (!life.alive) this.#kills++
  }

  async #use({ id: account } = this.#account): Promise<void> {
    if (!this.#gatewayLives) return
    for (let count = this.#schedule.between(1, 7); count > 0; count--) {
      this.#gateway.append({
        payer: { account, env: 'test', funded: true },
        operation: 'chat.create',
        served: {},
        status: 200,
        fromMs: this.#schedule.wallMs - 40,
        energy: nj(BigInt(this.#schedule.between(0, 1000)) * 1_000_000n),
      })
      if (this.#schedule.chance() < 0.3) await this.#pass(this.#schedule.between(1, 2000))
    }
    if (this.#schedule.chance() < 0.3) await this.#pay(account)
  }

  async #pay(account: string): Promise<void> {
    const amount = BigInt(this.#schedule.between(1, 1_000_000))
    await this.#world.state.query(
      `insert into transfers (debit, credit, amount, kind, at)
       values ('operator:funds:tUSD', 'money:' || $1, $2, 'top_up', ledger_now())`,
      [account, amount.toString()],
    )
    this.#transfers.push({ account, at: new Date(this.#schedule.wallMs), amount })
  }

  /** The processes that live report. */
  async #tick(): Promise<void> {
    if (this.#gatewayLives) await this.#gateway.tick()
    for (const life of this.#lives) if (life.alive && !life.ended) await life.process.tick()
  }

  async #ask(): Promise<void> {
    const schedule = this.#schedule
    const id = newId('pack')
    const asking = this.#account
    const { id: account } = asking
    // Its last charges may not be posted yet.
    if (schedule.chance() < 0.5) await this.#use(asking)
    await this.#pass(schedule.between(0, 5))
    const toMs = schedule.wallMs - schedule.pick([0, 1, 500, 4000, 60_000])
    const fromMs = toMs - schedule.pick([1, 5000, 60_000, HOUR_MS, 30 * DAY_MS])
    const [from, to] = [new Date(fromMs), new Date(toMs)]
    const ceilingNj = ceilingOfPack(BigInt(schedule.between(0, 100)))
    try {
      await this.#world.state.query('select add_pack($1, $2, $3, $4, $5, $6, $7)', [
        id,
        account,
        from,
        to,
        ceilingNj.toString(),
        '1',
        PACKS_OPEN_MAX,
      ])
    } catch (error) {
      if (hasSqlState(error, 'tooManyPacks', 'accountDeleting')) return
      throw error
    }
    const askedMs = schedule.wallMs
    this.#asked.push({ id, account, from, to, ceilingNj, askedMs, isDeleted: false })
    await this.#wake('')
  }

  async #delete(): Promise<void> {
    if (this.#asked.length === 0) return
    const pack = anyOf(this.#asked, this.#schedule.between(0, 1000))
    await this.#world.state.query('select drop_pack($1)', [pack.id])
    pack.isDeleted = true
    await this.#wake(pack.id)
  }

  /** Some notices are lost with their connection. */
  async #wake(deleted: string): Promise<void> {
    if (this.#schedule.chance() < 0.3) return
    for (const life of this.#lives) life.wake(deleted)
    for (const life of this.#lives) await life.still()
  }

  /** A process is killed, is stopped, or begins. */
  async #turnLife(): Promise<void> {
    for (const [nth, life] of this.#lives.entries()) {
      if (life.alive && !life.ended) continue
      if (life.ended) await life.process.end()
      this.#lives.splice(nth, 1)
      break
    }
    const idle = this.#makers.filter((one) => this.#lives.every(({ process }) => process !== one))
    const life = this.#lives[0]
    const luck = this.#schedule.chance()
    if (idle.length > 0 && (luck < 0.6 || life === undefined)) await this.#begin(anyOf(idle, 0))
    else if (luck < 0.75) {
      life?.stop()
      await life?.still()
    } else if (luck < 0.85) this.#kill(life)
    else if (luck < 0.95) life?.killAtDisk(this.#schedule.between(0, 7))
  }

  #kill(life: SimBuilder | undefined): void {
    if (life === undefined) return
    this.#kills++
    life.kill()
  }

  async #begin(process: SimProcess): Promise<void> {
    const nth = this.#kills
    const life = new SimBuilder({
      world: this.#world,
      process,
      disk: this.#disk,
      lie: (state) => lieOf(this.#plant, state, nth),
      isPaid: (account) => this.#accounts.some(({ id, isPaid }) => id === account && isPaid),
      useNj: () => usedNj(this.#schedule.between(0, this.#mostMj)),
    })
    this.#lives.push(life)
    await life.begin()
  }

  async #openGateway(): Promise<void> {
    this.#gatewayLives = true
    await this.#gateway.open()
  }

  /** Its journal is posted when it is back. */
  async #turnGateway(): Promise<void> {
    if (this.#gatewayLives) this.#gatewayLives = false
    else await this.#openGateway()
  }

  #spoilDisk(): void {
    const at = this.#disk.operations + this.#schedule.between(1, 8)
    this.#disk.fault = { at, code: this.#schedule.pick(['EIO', 'ENOSPC']) }
  }

  async #leave(account: Account): Promise<void> {
    if (account.isLeaving) return
    account.isLeaving = true
    await this.#world.state.query("select ask_deletion($1, '0 s')", [account.id])
  }

  async #runDeletions(): Promise<void> {
    const { state } = this.#world
    const { leave = async () => undefined } = this.#tasks
    const nothing = async () => undefined
    const isKept = this.#plant === 'packs of deleted accounts stay'
    const leaves = () => [{ name: 'compliance', leave: isKept ? nothing : leave }]
    await deleteAccounts({ state, log: quiet, leaves }, this.#signal)
    for (const { id, account } of this.#asked)
      if (this.#accounts.some((one) => one.id === account && one.isLeaving)) await this.#wake(id)
  }

  async #expire(): Promise<void> {
    await this.#tasks.tasks?.['compliance.expire']?.run({}, {
      signal: this.#signal,
      progress: () => undefined,
    } as never)
    this.#expiredBeforeMs = this.#schedule.wallMs - KEPT_DAYS * DAY_MS
  }

  /** Nothing fails any more; false where packs are still not made after a long time. */
  async #calm(): Promise<boolean> {
    this.#disk.fault = undefined
    for (const life of this.#lives) life.kill()
    this.#lives.length = 0
    if (!this.#gatewayLives) await this.#openGateway()
    // The process that is left takes over the packs of the others at its begin.
    for (const process of this.#makers) await process.end()
    await this.#begin(anyOf(this.#makers, 0))
    await this.#runDeletions()
    let rounds = 0
    for (; rounds < ROUNDS_MAX && (rounds % 10 > 0 || (await this.#isBusy())); rounds++) {
      const isAsking = this.#lives.some((life) => life.isAsking)
      if (isAsking) await this.#turn('is done')
      else await this.#pass(SECOND_MS)
      // A process that always asks holds up neither ticks nor signers.
      if (isAsking && rounds % TICK_ROUNDS > 0) continue
      await this.#tick()
      await this.#world.log.seal()
    }
    for (const life of this.#lives) life.kill()
    for (const process of [...this.#makers, this.#gateway]) await process.end()
    return rounds < ROUNDS_MAX
  }

  async #isBusy(): Promise<boolean> {
    const { rowCount } = await this.#world.state.query(
      "select from evidence_packs where status in ('waiting', 'running') limit 1",
    )
    return rowCount > 0
  }
}
