// An event and its fact are in one transaction. Each cause is run on a connection that fails, or is ended, just before
// the event is written, just after, and at the end of the transaction. Then both are there, or both are not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { present } from '#base/errors.ts'
import { EVENTS } from '#contract/events.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createTicker, EVENT_CAUSES, type CausePlace, type EventCause } from './event-causes.ts'

const OPTIONS = { skip: whyNoState(), timeout: 300_000 }
const MOMENTS = ['before', 'after', 'at the end'] as const
const WAYS = ['fails', 'is ended'] as const
/** Raised where a statement is to fail. */
const PLANNED = 'EG099'

let server: TestUrl
/** The state has a single connection, whose setting says where it fails. */
let state: State
before(async () => {
  if (OPTIONS.skip !== false) return
  server = await openTestUrl()
  state = await openLedgerState(server.of, 1)
  for (const text of TRIGGERS) await state.query(text)
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

// A session that ends itself does so at the next check for interrupts, which the sleep has.
const TRIGGERS = [
  `create function die_of_event() returns trigger language plpgsql as $$
   declare
     planned constant text := current_setting('ergon.dies', true);
   begin
     if planned = tg_argv[0] || ' fails' then raise exception 'planned' using errcode = '${PLANNED}'; end if;
     if planned = tg_argv[0] || ' is ended' then
       perform pg_terminate_backend(pg_backend_pid());
       perform pg_sleep(1);
     end if;
     return new;
   end $$`,
  `create trigger dies_before before insert on events for each row execute function die_of_event('before')`,
  `create trigger dies_after after insert on events for each row execute function die_of_event('after')`,
  `create constraint trigger dies_at_end after insert on events deferrable initially deferred for each row
   execute function die_of_event('at the end')`,
]

let accounts = 0

/** Statements until the connection is ended; infinite where it is not. */
let statementsLeft = Number.POSITIVE_INFINITY
const dying: Pick<State, 'query'> = {
  async query(text, values) {
    if (statementsLeft-- === 0) await state.query(END)
    return await state.query(text, values)
  },
}
const END = 'select pg_terminate_backend(pg_backend_pid()), pg_sleep(1)'
/** The most statements of a cause: a cause with more would never end. */
const STATEMENTS_MAX = 5

/** The faults of a cause; none where its fact and its event are always together. */
async function faultsOf(cause: EventCause): Promise<string[]> {
  const account = `acct_e${++accounts}`
  await addTestAccount(state, { id: account, env: 'test', lowWater: cause.lowWater ?? 0n })
  const at = { state: dying, account, tick: createTicker(dying, account) }
  await cause.arrange?.(at)
  const first = await lookAt(cause, at)
  const faults: string[] = []
  const isDone = () =>
    cause.act(at).then(
      () => true,
      () => false,
    )
  const compare = async (plan: string) => {
    const now = await lookAt(cause, at)
    if (now.fact !== first.fact) faults.push(`${plan}: the fact without its event`)
    if (now.events !== first.events) faults.push(`${plan}: the event without its fact`)
  }
  for (const moment of MOMENTS)
    for (const way of WAYS) {
      const plan = `${moment} ${way}`
      await state.query("select set_config('ergon.dies', $1, false)", [plan])
      if (await isDone()) faults.push(`${plan}: it went on`)
      await state.query("select set_config('ergon.dies', '', false)")
      await compare(plan)
    }
  for (let nth = 0; nth < STATEMENTS_MAX && faults.length === 0; nth++) {
    statementsLeft = nth
    const done = await isDone()
    statementsLeft = Number.POSITIVE_INFINITY
    if (done) break
    await compare(`before statement ${nth}`)
  }
  if (faults.length > 0) return faults
  // A committed pair outlives its connection.
  await state.query(END).catch(() => undefined)
  const last = await lookAt(cause, at)
  if (last.fact === first.fact) faults.push('it changes no fact')
  if (last.events !== first.events + 1) faults.push(`it tells ${last.events - first.events} times`)
  return faults
}

async function lookAt({ type, fact }: EventCause, { account }: CausePlace) {
  const { rows } = await state.query<Record<string, string>>(fact, [account])
  const { rows: told } = await state.query<{ count: number }>(
    'select count(*)::int as count from events where account = $1 and type = $2',
    [account, type],
  )
  return { fact: String(Object.values(rows[0] ?? {})[0]), events: told[0]?.count ?? 0 }
}

for (const cause of EVENT_CAUSES)
  test(`${cause.type} and its fact in ${cause.path} are both there, or none`, OPTIONS, async () => {
    assert.deepEqual(await faultsOf(cause), [])
  })

const EMITTED = /\bemit_event\([^,()]+(?:\([^()]*\))?,\s*'([^']+)'/g

test(
  'each function that emits an event, and each caller of one that only tells, has a row',
  OPTIONS,
  async () => {
    const { rows } = await state.query<{ name: string; source: string }>(
      `select proname as name, prosrc as source from pg_proc where pronamespace = 'public'::regnamespace`,
    )
    const found = rows.flatMap(({ name, source }) =>
      [...source.matchAll(EMITTED)].flatMap(([, type]) => {
        const callers = rows.filter((one) => one.name !== name && calls(one.source, name))
        const paths = callers.length === 0 ? [name] : callers.map((one) => `${one.name} > ${name}`)
        return paths.map((path) => `${type} ${path}`)
      }),
    )
    const known = EVENT_CAUSES.map(({ type, path }) => `${type} ${path}`)
    assert.deepEqual([...new Set(found)].toSorted(), known.toSorted())
    assert.deepEqual(
      [...new Set(EVENT_CAUSES.map(({ type }) => type))].toSorted(),
      Object.keys(EVENTS).toSorted(),
    )
  },
)

const calls = (source: string, name: string) => new RegExp(`\\b${name}\\(`).test(source)

test(
  'a planted event outside of the transaction of its fact turns it red, on either side',
  OPTIONS,
  async () => {
    const cause = present(
      EVENT_CAUSES.find(({ path }) => path === 'suspend_account'),
      'the cause of a suspension',
    )
    const fact = (at: CausePlace) =>
      at.state.query(
        'insert into account_suspensions (account, reason, at) values ($1, $2, now())',
        [at.account, 'words'],
      )
    const tell = (at: CausePlace) =>
      at.state.query("select emit_event($1, 'account.suspended', '{}')", [at.account])
    const late = async (at: CausePlace) => {
      await fact(at)
      await tell(at)
    }
    assert.match((await faultsOf({ ...cause, act: late })).join(), /the fact without its event/)
    const early = async (at: CausePlace) => {
      await tell(at)
      await fact(at)
    }
    assert.match((await faultsOf({ ...cause, act: early })).join(), /the event without its fact/)
  },
)
