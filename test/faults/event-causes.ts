// Each cause of an event: how an account comes to it, the statement that makes fact and event, and where the fact is.
// `path` is the function that emits, after its caller where several tell by it. event-facts.test.ts compares the paths
// with the functions of a state: a new one without a row here turns it red.
import { present } from '#base/errors.ts'
import { timestamp } from '#base/clock.ts'
import { createLedger } from '#ledger/ledger.ts'
import { testCharge } from '#ledger/test-state.fixture.ts'
import type { Queryable } from '#state/connect.ts'

export type EventCause = {
  readonly path: string
  readonly type: string
  /** The low-water mark of its account. */
  readonly lowWater?: bigint
  /** Brings the account so far that `act` is the cause. */
  readonly arrange?: (at: CausePlace) => Promise<unknown>
  readonly act: (at: CausePlace) => Promise<unknown>
  /** SQL of one value, which `act` changes; $1 is the account. */
  readonly fact: string
}

/** An account of a cause. */
export type CausePlace = {
  readonly state: Queryable
  readonly account: string
  readonly tick: Ticker
}

const GRANT = "select grant_funds($1, 1000000, 'funds', 50, 'top_up')"
const POSTED = "select posted::text from wallets where id = 'money:' || $1"
const BUDGET_DAY =
  "select is_warned::text || is_exceeded from budget_days where budget = 'wl_' || $1"
const ASKED = 'select count(*)::text from account_deletions where account = $1'
const HELD = 'select count(*)::text from account_suspensions where account = $1'

const ask = (text: string) => (at: CausePlace) => at.state.query(text, [at.account])
const both =
  (...texts: readonly string[]) =>
  async (at: CausePlace) => {
    for (const text of texts) await ask(text)(at)
  }

const WORKLOAD = [
  `insert into resources (id, kind, account, name, region, actual, version, live_version, created_at, changed_at)
   values ('wl_' || $1, 'workload', $1, 'web', 'r-' || $1, 'deployed', 1, 1, now(), now())`,
  `insert into workloads (id, account, scale_min, scale_max, sleep_after_ms, host)
   values ('wl_' || $1, $1, 0, 1, 1000, 'web-' || $1 || '.test')`,
]
const DATABASE = `insert into resources (id, kind, account, name, region, actual, created_at, changed_at)
   values ('db_' || $1, 'database', $1, 'notes', 'r-' || $1, 'deployed', now(), now())`
const DATABASE_FAILS = "select fail_database('db_' || $1, 'words', 'a line of the log')"
const USED = [
  "select set_budget('wl_' || $1, $1, 15e9)",
  `select transfer(budget_day('wl_' || $1, ledger_now()), 'operator:budget', 14000000001, 'budget')`,
]

export const EVENT_CAUSES: readonly EventCause[] = [
  {
    path: 'tick_post > note_balance',
    type: 'balance.low',
    lowWater: 600_000n,
    arrange: async (at) => {
      await ask(GRANT)(at)
      await at.tick.lease(`money:${at.account}`, 900_000n)
    },
    act: ({ tick }) => tick.spend(500_000n),
    fact: POSTED,
  },
  {
    path: 'expire_wallet > note_balance',
    type: 'balance.low',
    lowWater: 600_000n,
    arrange: ask(`${GRANT.slice(0, -1)}, now() - interval '1 day')`),
    act: ask('select expire_lots(10), $1::text'),
    fact: POSTED,
  },
  {
    path: 'begin_refund > note_balance',
    type: 'balance.low',
    lowWater: 100_000_000_000n,
    arrange: both(
      `select add_lot($1, jsonb_populate_record(null::lots, jsonb_build_object('kind', 'funds', 'priority', 50,
         'remaining', 500000000000, 'source', 'operator:funds:tUSD', 'reference', 'pay_' || $1)), 'top_up')`,
      `insert into payments (id, account, processor, kind, amount_pusd, state, created_at, changed_at)
       values ('pay_' || $1, $1, 'card', 'topup', 500000000000, 'captured', now(), now())`,
    ),
    act: ask("select begin_refund('refund_' || $1, 'pay_' || $1, $1, null)"),
    fact: POSTED,
  },
  {
    path: 'note_balance > note_depleted',
    type: 'balance.depleted',
    arrange: async (at) => {
      await ask(GRANT)(at)
      await at.tick.lease(`money:${at.account}`, 1_000_000n)
    },
    act: ({ tick }) => tick.spend(1_000_000n),
    fact: POSTED,
  },
  {
    path: 'fit_reserve > note_depleted',
    type: 'balance.depleted',
    arrange: both(
      GRANT,
      "select want_reserves('retention', 'bucket ' || $1, array[$1], array[1000000000000::numeric])",
    ),
    act: ask("select fit_reserves('retention', array['money:' || $1])"),
    fact: "select kept::text from wallets where id = 'money:' || $1",
  },
  {
    path: 'tick_post > note_budget',
    type: 'energy_budget.warning',
    arrange: async (at) => {
      await ask("select set_budget('wl_' || $1, $1, 1000000)")(at)
      await at.tick.lease(`budget:wl_${at.account}`, 1_000_000n)
    },
    act: ({ tick }) => tick.spend(900_000n),
    fact: BUDGET_DAY,
  },
  {
    path: 'note_used_up',
    type: 'energy_budget.warning',
    arrange: both(...USED),
    act: ask("select note_used_up('wl_' || $1, 1e9)"),
    fact: BUDGET_DAY,
  },
  {
    path: 'note_used_up',
    type: 'energy_budget.exceeded',
    arrange: both(...USED),
    act: ask("select note_used_up('wl_' || $1, 1e9)"),
    fact: BUDGET_DAY,
  },
  {
    path: 'note_exposed_token',
    type: 'token.exposed',
    arrange: both(
      "insert into members (id, account, name, role, state) values ('mem_' || $1, $1, 'a', 'owner', 'active')",
      `insert into tokens (id, account, member, hash, hint, name, scope)
       values ('tok_' || $1, $1, 'mem_' || $1, 'x', 'x', 'x', 'deploy')`,
    ),
    act: ask("select note_exposed_token('tok_' || $1)"),
    fact: 'select count(exposed_at)::text from tokens where account = $1',
  },
  {
    path: 'ask_deletion',
    type: 'account.deletion_requested',
    act: ask("select ask_deletion($1, interval '7 days')"),
    fact: ASKED,
  },
  {
    path: 'restore_account',
    type: 'account.restored',
    arrange: ask("select ask_deletion($1, interval '7 days')"),
    act: ask('select restore_account($1)'),
    fact: ASKED,
  },
  {
    path: 'suspend_account',
    type: 'account.suspended',
    act: ask("select suspend_account($1, 'words')"),
    fact: HELD,
  },
  {
    path: 'resume_account',
    type: 'account.resumed',
    arrange: ask("select suspend_account($1, 'words')"),
    act: ask('select resume_account($1)'),
    fact: HELD,
  },
  {
    path: 'change_workload > tell_workload_scaled',
    type: 'workload.scaled',
    arrange: both(...WORKLOAD),
    act: ask(`select change_workload('wl_' || $1, '{"scale_max": 3}', 10)`),
    fact: "select scale_max::text from workloads where id = 'wl_' || $1",
  },
  {
    path: 'tell_workload_instances > tell_workload_scaled',
    type: 'workload.scaled',
    arrange: both(...WORKLOAD),
    act: ask("select tell_workload_instances('wl_' || $1, 3)"),
    fact: "select instances_told::text from workloads where id = 'wl_' || $1",
  },
  {
    path: 'make_workload_live',
    type: 'workload.deployed',
    arrange: both(
      ...WORKLOAD,
      "update resources set live_version = null, actual = 'deploying' where id = 'wl_' || $1",
    ),
    act: ask("select make_workload_live('wl_' || $1, 1, 'https://web.test')"),
    fact: "select coalesce(live_version, 0)::text from resources where id = 'wl_' || $1",
  },
  {
    path: 'mark_crash_loop',
    type: 'workload.crashed',
    arrange: both(...WORKLOAD),
    act: ask("select mark_crash_loop('wl_' || $1, 1, 137, 'words', 100)"),
    fact: "select actual from resources where id = 'wl_' || $1",
  },
  {
    path: 'tell_workload_suspended',
    type: 'workload.suspended',
    arrange: both(...WORKLOAD),
    act: ask("select move_resource('wl_' || $1, 'suspended')"),
    fact: "select actual from resources where id = 'wl_' || $1",
  },
  {
    path: 'tell_database_state',
    type: 'database.failed',
    arrange: ask(DATABASE),
    act: ask(DATABASE_FAILS),
    fact: "select actual from resources where id = 'db_' || $1",
  },
  {
    path: 'tell_database_state',
    type: 'database.recovered',
    arrange: both(DATABASE, DATABASE_FAILS),
    act: ask("select move_resource('db_' || $1, 'deployed')"),
    fact: "select actual from resources where id = 'db_' || $1",
  },
  {
    path: 'lose_last_log',
    type: 'database.log_lost',
    arrange: both(DATABASE, "insert into databases (id, size_bytes) values ('db_' || $1, 1)"),
    act: ask("select lose_last_log('db_' || $1, 'words')"),
    fact: "select count(*)::text from database_log_gaps where database = 'db_' || $1",
  },
  {
    path: 'end_restore',
    type: 'database.log_lost',
    arrange: both(
      DATABASE,
      "insert into databases (id, size_bytes, is_archived) values ('db_' || $1, 1, false)",
      "insert into database_restores (database, source) values ('db_' || $1, 'db_' || $1)",
    ),
    act: ask("select end_restore('db_' || $1)"),
    fact: "select status from database_restores where database = 'db_' || $1",
  },
  {
    path: 'webhook_announce_receipts',
    type: 'receipt.published',
    arrange: async (at) => {
      await both(GRANT, 'insert into webhook_feeds (account, receipts_from) values ($1, 1)')(at)
      await at.tick.lease(`money:${at.account}`, 1000n)
      await at.tick.spend(1000n)
      await both(
        `insert into receipt_shards (origin, shard, public_key, first_leaf, valid_from)
         values ($1, '2026', sha256('a'), 0, now())`,
        `insert into receipt_checkpoints (origin, size, root, note) select $1, size, sha256('a'), '' from log_head`,
      )(at)
    },
    act: ask('select webhook_announce_receipts($1)'),
    fact: 'select receipts_from::text from webhook_feeds where account = $1',
  },
  {
    path: 'webhook_announce_objects',
    type: 'object.created',
    arrange: both(
      `insert into buckets (name, account, region, configurations) values ('b-' || $1, $1, 'r', '{"notification": {}}')`,
      "insert into webhook_feeds (account, objects_from) values ($1, now() - interval '1 day')",
      `insert into webhook_endpoints (id, account, url, description, events, secret, created_at)
       values ('we_' || $1, $1, 'https://a.test', '', array['object.created'], '', now())`,
      `insert into storage_events (bucket, name, key, version_id, size, etag, at)
       select id, 'ObjectCreated:Put', 'key', 'null', 1, 'etag', now() from buckets where account = $1`,
    ),
    act: ask('select webhook_announce_objects($1)'),
    fact: `select count(w.id)::text from webhook_buckets w join buckets b on b.id = w.bucket where b.account = $1`,
  },
  {
    path: 'webhook_settle',
    type: 'webhook.disabled',
    arrange: both(
      `insert into webhook_endpoints (id, account, url, description, events, secret, created_at)
       values ('we_' || $1, $1, 'https://a.test', '', array['balance.low'], '', now())`,
      `insert into webhook_deliveries (endpoint, event, next_at, since, created_at)
       values ('we_' || $1, 'evt_' || $1, now(), now(), now())`,
    ),
    act: ask(
      `select webhook_settle(jsonb_agg(jsonb_build_object('id', id, 'attempts', 0, 'endpoint', endpoint, 'ok', false,
         'status', 410, 'took_ms', 1))) from webhook_deliveries where endpoint = 'we_' || $1`,
    ),
    fact: 'select status || (select max(attempts) from webhook_deliveries where endpoint = e.id) from webhook_endpoints e where account = $1',
  },
  {
    path: 'begin_incident',
    type: 'fleet.region_outage',
    arrange: both(...WORKLOAD),
    act: ask("select begin_incident('inc_' || $1, 'r-' || $1, 'words', now())"),
    fact: "select count(*)::text from incidents where region = 'r-' || $1",
  },
  {
    path: 'finish_pack',
    type: 'compliance.evidence_ready',
    arrange: both(
      "select add_pack('pack_' || $1, $1, now() - interval '1 day', now(), 1, 1, 5)",
      "select start_pack('pack_' || $1)",
    ),
    act: ask(
      `select finish_pack('pack_' || $1, jsonb_build_object('id', gen_random_uuid(), 'location', 'fs', 'size', 1,
         'checksum', 'x'), 'sum')`,
    ),
    fact: 'select status || (select count(*) from blobs) from evidence_packs where account = $1',
  },
]

/** A session of the ledger: it leases once, and spends what it has leased. */
export interface Ticker {
  lease(want: string, amount: bigint): Promise<void>
  /** The same tick again after one that failed. */
  spend(amount: bigint): Promise<unknown>
}

export function createTicker(state: Queryable, account: string): Ticker {
  const ledger = createLedger(state)
  let session = ''
  let wallet = ''
  const meter = { epoch: 0n, meter: 'm1' }
  return {
    async lease(want, amount) {
      ;({ session } = await ledger.openSession(`gw-${account.replace('_', '-')}`))
      const wants = [{ wallet: want, amount }]
      const first = { session, number: 1n, ...meter, records: [], debits: [], wants }
      const { grants } = await ledger.tick(first)
      ;({ wallet } = present(grants[0], 'a lease'))
    },
    spend(amount) {
      const at = timestamp(Date.now())
      const isMoney = wallet.startsWith('money:')
      const money = isMoney ? amount : 0n
      const charge = { session, seq: 1n, account, ownNj: amount, upstreamNj: 0n, money, at }
      const records = [testCharge(charge)]
      const debits = [{ seq: 1n, wallet, amount }]
      return ledger.tick({ session, number: 2n, ...meter, records, debits, wants: [] })
    },
  }
}
