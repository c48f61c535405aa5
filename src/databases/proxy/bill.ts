// The CPU of this proxy that sessions of a database cost: their logins, TLS and the bytes that are relayed. One charge
// for each minute with work, and one when the database is not in use any more. A login that fails is the operator's.
import type { TimerClock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { nj } from '#base/units.ts'
import { chargedResource } from '#contract/ledger/charged-resource.ts'
import { during, type DuringDeps } from '#charging/during.ts'
import { NotAwake } from '#databases/agent-socket/awake.ts'
import { energyWords } from '#databases/agent-socket/energy-words.ts'
import type { Payer } from '#charging/spend.ts'
import type { PipeMarks } from '#metering/pipe-marks.ts'
import type { Role } from './roles.ts'
import { STOPPED, type FatalError } from '#wire/messages.ts'

export interface Bill {
  /** The CPU of this process since the last mark of anybody is of these sessions. */
  mark(): void
  /** So many bytes were relayed in one piece. */
  piece(bytes: number): void
  /** A login to the database has used so much. */
  addLogin(cpuNs: number): void
  /** Resolves with the last message of the sessions when nothing more can be billed. */
  readonly cut: Promise<FatalError>
  /** Resolves when everything is charged. */
  end(): Promise<void>
}

export type BillDeps = DuringDeps & {
  /** Called when sessions were ended by the budget of a database: others may hold the rest. */
  readonly budgetEnded: (database: string) => Promise<void>
  readonly clock: TimerClock
  readonly marks: PipeMarks
  /** The account of a database, limited by the budget of the database. */
  readonly payerOf: (account: string, database: string) => Promise<Payer>
}

/**
 * The energy that a proxy holds. Wallets may be small: they keep what no session holds, and some hundred logins are held
 * ahead. The grace pays for sessions as for their server, whose end the agent alone decides.
 */
export const PROXY_HOLDS = {
  leaseLeastNj: nj(0n),
  aheadNj: nj(500_000_000n),
  draws: 'grace',
} as const

/** Of one use of a database, which may go on for years: no amount that can be reached. */
const CEILING_NJ = nj(10n ** 18n)
/** The marks of all sessions together, as a charge adds them up. */
const SESSIONS = 'sessions'
/** Between two looks at whether the account can pay what was used. */
const CLAIM_MS = 250

const AWAY: FatalError = {
  code: '57P03',
  message: 'the use of the database cannot be charged now',
  hint: 'Try again in a few seconds.',
}

/** Begins to bill; rejects with the error of charging, see `fatalOf()`. */
export async function openBill(
  deps: BillDeps,
  { account, database, databaseName }: Pick<Role, 'account' | 'database' | 'databaseName'>,
): Promise<Bill> {
  const { marks } = deps
  const payer = { cpuNs: 0 }
  const begun = Promise.withResolvers<Bill>()
  const over = Promise.withResolvers<void>()
  const cut = Promise.withResolvers<FatalError>()
  const long = {
    payerOf: () => deps.payerOf(account, database),
    operation: 'database.session',
    ceilingNj: CEILING_NJ,
    served: { resource: chargedResource(database) },
  } as const
  const work = during(deps, long, async (meter, signal) => {
    signal.addEventListener('abort', () => cut.resolve(fatalOf(signal.reason, databaseName)), {
      once: true,
    })
    const claim = () => {
      marks.flush()
      meter.claim({ kind: 'cpu', cell: SESSIONS, cpuNs: BigInt(payer.cpuNs) })
    }
    const timer = setInterval(claim, CLAIM_MS).unref()
    begun.resolve({
      mark: () => marks.mark(payer),
      piece: (bytes) => marks.piece(payer, bytes),
      addLogin: (cpuNs) => void (payer.cpuNs += cpuNs),
      cut: cut.promise,
      end,
    })
    await over.promise
    clearInterval(timer)
    claim()
    return signal.reason as unknown
  })
  async function end(): Promise<void> {
    over.resolve()
    const reason = await work
    if (reason instanceof ErgonError && reason.code === 'budget_exhausted')
      await deps.budgetEnded(database)
  }
  work.catch((error: unknown) => begun.reject(error))
  return await begun.promise
}

/** Why sessions of the database with this name cannot begin or go on, for their clients. */
export function fatalOf(error: unknown, name: string): FatalError {
  if (error instanceof NotAwake) return error.fatal
  const isDraining = error instanceof ErgonError && error.code === 'draining'
  return isDraining ? STOPPED : (energyWords(error, name) ?? AWAY)
}
