// The background work of payments: queries of processors and chains for unreported payments, the ends of holds, and
// automatic top-ups.
import type { TasksCore, TasksPart, TasksProduct } from '#node/tasks-part.ts'
import type { PaymentAdapter } from './adapter.ts'
import { recordSystemAct } from '#identity/audit.ts'
import { eachProcessor } from './each-processor.ts'
import { endHolds } from './end-holds.ts'
import { forEachPayment } from './for-each-payment.ts'
import { createMoneyEnd } from './money-end.ts'
import { forgetAndSettle, reconcilePayments } from './reconcile.ts'
import { openAdapters, type PaymentsSettings } from './settings.ts'
import { checkFacilitators } from './stablecoin/check-facilitators.ts'
import { openChains } from './stablecoin/chains.ts'
import { watchPayments } from './stablecoin/watch.ts'
import { tellUnwatched } from './stablecoin/watched-payments.ts'
import { startPayment } from './start-payment.ts'
import type { Task } from '#tasks/task.ts'

const MINUTE_MS = 60_000
const AUTOMATIC_EVERY_MS = 5000
const STABLECOINS_EVERY_MS = 5000
const LIMITS = { attempts: 5, timeoutMs: 120_000 }
/** Automatic top-ups of a run. */
const BATCH = 20

type Deps = Pick<TasksCore, 'state' | 'log'> & { readonly adapter: PaymentAdapter }

export const PAYMENTS_TASKS: TasksProduct<PaymentsSettings> = { name: 'payments', open }

function open({ state, log }: TasksCore, settings: PaymentsSettings): TasksPart {
  const adapters = openAdapters(settings)
  const settle = createMoneyEnd({ state, log, adapters })
  const chains = openChains(settings.stablecoins)
  const forEach =
    (work: (deps: Deps, signal: AbortSignal) => Promise<void>): Task['run'] =>
    async (_, { signal }) =>
      await eachProcessor(adapters, (adapter) => work({ state, log, adapter }, signal))
  const minutely = (run: Task['run']): Task => ({ ...LIMITS, everyMs: MINUTE_MS, run })
  // An earlier setting may have left payments.
  const ofAll = {
    'payments.claims': minutely((_, { signal }) => forgetAndSettle(state, signal)),
    'payments.unwatched': minutely(() => tellUnwatched(state, chains)),
  }
  if (adapters.length === 0 && chains.length === 0) return { settle, tasks: ofAll }
  return {
    settle,
    run: (signal) => checkFacilitators({ state, log, chains }, signal),
    tasks: {
      ...ofAll,
      'payments.reconcile': minutely(forEach(reconcilePayments)),
      'payments.holds': minutely(forEach(endHolds)),
      'payments.automatic': {
        ...LIMITS,
        everyMs: AUTOMATIC_EVERY_MS,
        run: forEach(topUpAutomatically),
      },
      'payments.stablecoins': {
        ...LIMITS,
        everyMs: STABLECOINS_EVERY_MS,
        run: (_, { signal }) => watchPayments({ state, log, chains }, signal),
      },
    },
  }
}

type Automatic = { id: string; account: string; amount: string; method: string }

async function topUpAutomatically(
  { state, log, adapter }: Deps,
  signal: AbortSignal,
): Promise<void> {
  const begun = await state.transaction(async (transaction) => {
    const { rows } = await transaction.query<Automatic>(
      'select id, account, amount_pusd::text as amount, method from begin_automatic($1, $2, $3)',
      [adapter.name, adapter.env, BATCH],
    )
    for (const { id, account, amount, method } of rows) {
      const details = { kind: 'automatic', amount_pusd: amount, payment_method: method }
      await recordSystemAct(transaction, account, {
        action: 'topup.create',
        target: id,
        details,
      })
    }
    return rows
  })
  // A call that fails is made again by payments.reconcile.
  await forEachPayment({ rows: begun, state, log, signal }, ({ id }) =>
    startPayment(state, adapter, id),
  )
}
