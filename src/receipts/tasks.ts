// The background tasks of receipts: old charges are bundled, and bundles are proven again. Both rest three times as long as
// they work, so that on a busy state they become slower themselves and take at most a quarter of its time.
import { sleep } from '#base/clock.ts'
import type { TasksCore, TasksProduct } from '#node/tasks-part.ts'
import { raiseAlarm } from '#state/alarms.ts'
import { isStateAway, type Queryable } from '#state/connect.ts'
import { BUNDLE_CHARGES, BUNDLE_CHARGES_MIN, bundleOldest } from './bundling/bundle-charges.ts'
import { proveNext } from './bundling/prove-bundles.ts'

const DAY_MS = 86_400_000
const EVERY_MS = 60_000
/** Time limit of a run; the next run goes on. */
const RUN_MS = 45_000
const TIMEOUT_MS = 180_000
const ATTEMPTS = 5
const RESTS = 3
const ACCOUNTS_MAX = 200
/** Bundles that are proven again in a run: 20,000 bundles, of 40 million charges, in a day. */
const PROOFS_MAX = 15

/** The part of a task's help that these use. */
type RunHelp = { readonly signal: AbortSignal }

export type BundlingSettings = {
  /** The age at which charges are bundled; 0: never. */
  readonly bundleDays: number
}

/** The background half; `unread` are queries that name the charges that must still be rows: account, next. */
export const receiptsTasks = (unread: readonly string[]): TasksProduct<BundlingSettings> => ({
  name: 'receipts',
  open: (core, { bundleDays }) => ({
    tasks: {
      'receipts.bundle': {
        everyMs: EVERY_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        run: async (_, help) => {
          if (bundleDays > 0) await bundleAll(core, { bundleDays, unread }, help)
        },
      },
      'receipts.prove-bundles': {
        everyMs: EVERY_MS,
        attempts: ATTEMPTS,
        timeoutMs: TIMEOUT_MS,
        run: (_, help) => paced(core, help, PROOFS_MAX, async () => await proveNext(core.state)),
      },
    },
  }),
})

type DueAccount = {
  readonly account: string
  /** The last number that may be bundled; null without a bound. */
  readonly until: string | null
}

async function bundleAll(
  core: TasksCore,
  { bundleDays, unread }: BundlingSettings & { readonly unread: readonly string[] },
  help: RunHelp,
): Promise<void> {
  const before = new Date(core.clock.wallMs() - bundleDays * DAY_MS)
  const due = await dueAccounts(core.state, before, unread)
  await paced(core, help, Number.POSITIVE_INFINITY, async () => {
    const next = due[0]
    if (next === undefined) return false
    if ((await bundleOrAlarm(core, next, before, help.signal)) < BUNDLE_CHARGES) due.shift()
    return true
  })
}

/** The accounts that have enough old charges for a bundle, the one with the most first. */
export async function dueAccounts(
  state: Queryable,
  before: Date,
  unread: readonly string[],
): Promise<DueAccount[]> {
  const { rows } = await state.query<DueAccount>(
    `select a.account, (select min(next) - 1 from (${unread.join(' union all ')}) u
       where u.account = a.account)::text as until
     from audited_accounts a left join bundled_accounts p using (account)
     where a.charges - coalesce(p.charges, 0) >= $2 and (select c.to_at from charges c
       where c.account = a.account and c.account_seq = coalesce(p.charges, 0) + $2) < $1
     order by a.charges - coalesce(p.charges, 0) desc limit ${ACCOUNTS_MAX}`,
    [before, BUNDLE_CHARGES_MIN],
  )
  return rows
}

async function bundleOrAlarm(
  { state, log }: TasksCore,
  due: DueAccount,
  before: Date,
  signal: AbortSignal,
): Promise<number> {
  try {
    return await bundleOldest(state, due.account, { before, until: due.until })
  } catch (error) {
    // The state is away or the run ends: that is no fault of the account. Any other must not stop the accounts after it.
    if (isStateAway(error) || signal.aborted) throw error
    const { account } = due
    const why = error instanceof Error ? error.message : String(error)
    log.error('Charges are not bundled', { account, error })
    await raiseAlarm(state, 'charges_not_bundled', { account, why }, { key: account })
    return 0
  }
}

/** Repeats a step until it says that nothing is left, with rests, for as long as a run may be. */
async function paced(
  { clock }: Pick<TasksCore, 'clock'>,
  { signal }: RunHelp,
  stepsMax: number,
  step: () => Promise<boolean>,
): Promise<void> {
  const begun = clock.wallMs()
  for (let steps = 0; steps < stepsMax && clock.wallMs() - begun < RUN_MS; steps++) {
    signal.throwIfAborted()
    const began = performance.now()
    if (!(await step())) return
    await sleep(RESTS * (performance.now() - began), signal)
  }
}
